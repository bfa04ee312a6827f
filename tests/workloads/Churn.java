import java.io.IOException;
import java.io.InputStream;

/**
 * What a profiler must survive, again and again for some seconds: short-lived threads, stack overflow, deep
 * recursion, child processes, classes loaded and dropped, exceptions, collections. Prints "done N of N",
 * the checks that held, at the end; N does not depend on speed.
 */
final class Churn {
    private static final int THREADS = 8;
    private static final int DEPTH = 2000;

    static volatile long sink;

    private Churn() {}

    static long work(int factor) {
        int[] a = new int[512];
        long sum = 0;
        for (int i = 0; i < a.length; i++) {
            a[i] = i * factor;
        }
        for (int v : a) {
            sum += v;
        }
        return sum;
    }

    static int depth(int n) {
        return n == 0 ? 0 : 1 + depth(n - 1);
    }

    static int endless(int n) {
        return endless(n + 1) + 1;
    }

    private static boolean overflows() {
        try {
            return endless(0) < 0;
        } catch (StackOverflowError e) {
            return true;
        }
    }

    private static boolean threadsRun() throws InterruptedException {
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int factor = i;
            threads[i] = new Thread(() -> {
                for (int j = 0; j < 300; j++) {
                    sink += work(factor);
                }
            });
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        return true;
    }

    private static boolean childrenRun() throws IOException, InterruptedException {
        return new ProcessBuilder("/bin/true").start().waitFor() == 0;
    }

    /** Loads this class once more, in a loader that is dropped at once. */
    private static boolean classesLoad() throws ReflectiveOperationException {
        ClassLoader loader = new ClassLoader(null) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                try (InputStream in = Churn.class.getResourceAsStream("/" + name + ".class")) {
                    byte[] bytes = in.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        };
        return loader.loadClass("Churn") != Churn.class;
    }

    private static boolean throwsAndCatches(int i) {
        try {
            return Integer.parseInt("x" + i) < 0;
        } catch (NumberFormatException e) {
            return true;
        }
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        int kinds = 6;
        boolean[] held = new boolean[kinds];
        java.util.Arrays.fill(held, true);
        System.out.println("up");
        for (int round = 1; System.nanoTime() < end; round++) {
            held[0] &= threadsRun();
            held[1] &= overflows();
            held[2] &= depth(DEPTH) == DEPTH;
            held[3] &= round % 5 != 0 || childrenRun();
            held[4] &= round % 3 != 0 || classesLoad();
            held[5] &= throwsAndCatches(round);
            if (round % 50 == 0) {
                System.gc();
            }
        }
        int count = 0;
        for (boolean h : held) {
            count += h ? 1 : 0;
        }
        System.out.println("done " + count + " of " + kinds);
    }
}
