import java.io.File;
import java.util.Random;

/**
 * Arrays that say in their content which they are, so that a test can see whether an address is
 * theirs: the first and the last element hold MAGIC + number. They live for very different times,
 * and are touched in one place, at one index.
 *
 * Properties: elements=N, of each array; arrays=N, that live at a time; control=FILE. While FILE is
 * there the program has made a full collection and is idle; it prints "quiet N" when that begins and
 * "churning N" when it goes on.
 */
final class TrackedObjects {
    private static final long MAGIC = 0x4f424a0000000000L;
    private static final int TOUCHED = 7;
    private static final int TOUCHES = 200;

    private static long number;
    static volatile long sink;

    private TrackedObjects() {}

    private static long[] allocate(int elements) {
        long[] a = new long[elements];
        a[0] = MAGIC + number;
        a[elements - 1] = a[0];
        number++;
        return a;
    }

    /** The only place where elements are read again. */
    private static long touch(long[][] arrays, int from) {
        long sum = 0;
        for (int i = 0; i < TOUCHES; i++) {
            sum += arrays[(from + i * 31) % arrays.length][TOUCHED];
        }
        return sum;
    }

    /**
     * Half of the arrays, at a rate that an agent with little processor time keeps up with: of those before, which
     * live for some milliseconds only, it may have missed all that are still there.
     */
    private static void replaceSlowly(long[][] arrays, int elements) throws InterruptedException {
        for (int i = 0; i < arrays.length; i += 2) {
            arrays[i] = allocate(elements);
            if (i % 8 == 0) {
                Thread.sleep(1);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long[][] arrays = new long[Integer.getInteger("arrays", 500)][];
        File control = new File(System.getProperty("control", "/nonexistent"));
        int elements = Integer.getInteger("elements", 64);
        Random random = new Random(1);
        long start = System.nanoTime();
        long rounds = 0;
        int quiet = 0;
        boolean up = false;

        for (int i = 0; i < arrays.length; i++) {
            arrays[i] = allocate(elements);
        }
        while (true) {
            /* Half of the replacements hit a tenth of the places: the rest grow old. */
            int range = random.nextBoolean() ? arrays.length / 10 : arrays.length;
            arrays[random.nextInt(range)] = allocate(elements);
            sink = touch(arrays, random.nextInt(arrays.length));
            if (++rounds % 64 != 0) {
                continue;
            }
            if (!up && System.nanoTime() - start > 1_000_000_000L) {
                up = true;
                System.out.println("up");
            }
            if (control.exists()) {
                replaceSlowly(arrays, elements);
                System.gc();
                System.out.println("quiet " + ++quiet);
                while (control.exists()) {
                    Thread.sleep(5);
                }
                System.out.println("churning " + quiet);
            }
        }
    }
}
