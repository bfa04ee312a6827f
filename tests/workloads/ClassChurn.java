import java.io.InputStream;

/** Makes classes of nine methods without end, each with a loader of its own, and lets go of them. */
final class ClassChurn {
    private ClassChurn() {}

    private static final class Loader extends ClassLoader {
        Class<?> load(byte[] bytes) {
            return defineClass("ManyClasses$Copy", bytes, 0, bytes.length);
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] bytes;
        try (InputStream in = ClassChurn.class.getResourceAsStream("ManyClasses$Copy.class")) {
            bytes = in.readAllBytes();
        }
        int value = 1;
        for (long i = 0;; i++) {
            Class<?> copy = new Loader().load(bytes);
            value += (Integer) copy.getMethod("run", int.class).invoke(null, value);
            Workload.sink = value;
            if (i == 1000) {
                System.out.println("up");
            }
        }
    }
}
