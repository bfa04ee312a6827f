import java.io.InputStream;
import java.lang.reflect.Method;

/**
 * Much compiled code and many deep calling contexts: the same class, loaded again and again, whose
 * methods call one another along random paths.
 *
 * Argument: how many times it is loaded; each has 8 methods.
 */
final class ManyMethods {
    private ManyMethods() {}

    /** One of the copies. */
    public static final class Copy {
        private static final int DEPTH = 40;
        private static final int[] values = new int[64];

        private Copy() {}

        public static int run(int seed) {
            return next(seed, DEPTH);
        }

        private static int next(int seed, int depth) {
            if (depth == 0) {
                return seed;
            }
            int mixed = seed * 1103515245 + 12345;
            switch (mixed >>> 16 & 3) {
                case 0:
                    return add(mixed, depth - 1);
                case 1:
                    return fill(mixed, depth - 1);
                case 2:
                    return copy(mixed, depth - 1);
                default:
                    return flip(mixed, depth - 1);
            }
        }

        private static int add(int seed, int depth) {
            int sum = 0;
            for (int v : values) {
                sum += v;
            }
            return next(seed, depth) + (sum & 1);
        }

        private static int fill(int seed, int depth) {
            for (int i = 0; i < values.length; i++) {
                values[i] = seed;
            }
            return next(seed, depth);
        }

        private static int copy(int seed, int depth) {
            for (int i = 1; i < values.length; i++) {
                values[i] = values[i - 1];
            }
            return next(seed, depth);
        }

        private static int flip(int seed, int depth) {
            for (int i = 0; i < values.length; i++) {
                values[i] ^= seed;
            }
            return next(seed, depth);
        }
    }

    private static final class Loader extends ClassLoader {
        Class<?> load(byte[] bytes) {
            return defineClass(Copy.class.getName(), bytes, 0, bytes.length);
        }
    }

    private static Method[] copies(int count) throws Exception {
        byte[] bytes;
        try (InputStream in = ManyMethods.class.getResourceAsStream("ManyMethods$Copy.class")) {
            bytes = in.readAllBytes();
        }
        Method[] copies = new Method[count];
        for (int i = 0; i < count; i++) {
            copies[i] = new Loader().load(bytes).getMethod("run", int.class);
        }
        return copies;
    }

    public static void main(String[] args) throws Exception {
        Method[] copies = copies(Integer.parseInt(args[0]));
        int value = 1;
        /* Often enough to be compiled. */
        for (Method m : copies) {
            for (int i = 0; i < 40; i++) {
                value = (Integer) m.invoke(null, value + i);
            }
        }
        System.out.println("up");
        while (true) {
            for (Method m : copies) {
                value = (Integer) m.invoke(null, value);
            }
            Workload.sink = value;
        }
    }
}
