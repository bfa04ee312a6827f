import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Many loaded classes, of eight methods each, of which a few are ever run.
 *
 * Arguments: how many classes, how many of them a class loader has, and "idle" to run none.
 */
final class ManyClasses {
    private ManyClasses() {}

    /** What they are copies of, under names of the same length. */
    public static final class Copy {
        private static final int[] values = new int[64];

        private Copy() {}

        public static int run(int seed) {
            return add(seed) + fill(seed) + copy(seed) + flip(seed) + last() + first();
        }

        private static int add(int seed) {
            int sum = seed;
            for (int v : values) {
                sum += v;
            }
            return sum;
        }

        private static int fill(int seed) {
            for (int i = 0; i < values.length; i++) {
                values[i] = seed;
            }
            return seed;
        }

        private static int copy(int seed) {
            for (int i = 1; i < values.length; i++) {
                values[i] = values[i - 1];
            }
            return seed;
        }

        private static int flip(int seed) {
            for (int i = 0; i < values.length; i++) {
                values[i] ^= seed;
            }
            return seed;
        }

        private static int last() {
            return values[values.length - 1];
        }

        private static int first() {
            return values[0];
        }
    }

    /** As many digits as "Copy" has letters. */
    private static final int DIGITS_FROM = 36 * 36 * 36;

    private static final class Loader extends ClassLoader {
        Class<?> load(byte[] bytes, String name) {
            byte[] renamed = bytes.clone();
            byte[] from = Copy.class.getName().getBytes(StandardCharsets.ISO_8859_1);
            byte[] to = name.getBytes(StandardCharsets.ISO_8859_1);
            for (int i = 0; i + from.length <= renamed.length; i++) {
                if (java.util.Arrays.equals(from, java.util.Arrays.copyOfRange(renamed, i, i + from.length))) {
                    System.arraycopy(to, 0, renamed, i, to.length);
                }
            }
            return defineClass(name, renamed, 0, renamed.length);
        }
    }

    static Class<?>[] load(int count, int each) throws Exception {
        byte[] bytes;
        try (InputStream in = ManyClasses.class.getResourceAsStream("ManyClasses$Copy.class")) {
            bytes = in.readAllBytes();
        }
        Class<?>[] classes = new Class<?>[count];
        Loader loader = null;
        for (int i = 0; i < count; i++) {
            loader = i % each == 0 ? new Loader() : loader;
            classes[i] = loader.load(bytes, "ManyClasses$" + Integer.toString(DIGITS_FROM + i, 36));
            Class.forName(classes[i].getName(), true, loader);
        }
        return classes;
    }

    public static void main(String[] args) throws Exception {
        Class<?>[] classes = load(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
        System.out.println("up");
        if (args.length > 2) {
            Thread.sleep(Long.MAX_VALUE);
        }
        int value = 1;
        while (true) {
            for (int i = 0; i < 100; i++) {
                value += Copy.run(value);
            }
            value += (Integer) classes[value >>> 1 & 63].getMethod("run", int.class).invoke(null, value);
            Workload.sink = value;
        }
    }
}
