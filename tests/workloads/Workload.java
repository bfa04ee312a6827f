import java.util.function.IntUnaryOperator;

/**
 * Runs one operation again and again in the main thread.
 *
 * Arguments: seconds to run (default: for ever). Properties: garbage=true also allocates, so that
 * collections happen; progress=true prints "operations N" every 100 ms. "up" is printed once the
 * operation has run for long enough to be compiled.
 *
 * The operation is to last about a millisecond, so that what is done between two calls weighs
 * nothing, and takes and gives an int that makes its result used and its values new.
 */
final class Workload {
    private static final int ELEMENTS = 16384;
    private static final long WARM_UP_NS = 1_000_000_000L;
    private static final long PROGRESS_NS = 100_000_000L;
    private static final int BLOCK_BYTES = 32 * 1024;

    /** Holds some blocks for long enough that they survive young collections. */
    private static final byte[][] blocks = new byte[64][];

    static volatile int sink;

    private Workload() {}

    /** The array that a known-by-construction operation works on. */
    static int[] array() {
        int[] a = new int[ELEMENTS];
        for (int i = 0; i < a.length; i++) {
            a[i] = i;
        }
        return a;
    }

    static void repeat(String[] args, IntUnaryOperator operation) {
        long seconds = args.length > 0 ? Long.parseLong(args[0]) : Long.MAX_VALUE / 1_000_000_000L;
        boolean garbage = Boolean.getBoolean("garbage");
        boolean progress = Boolean.getBoolean("progress");
        long start = System.nanoTime();
        long next = WARM_UP_NS;
        long count = 0;
        boolean up = false;
        int value = 1;

        while (true) {
            value = operation.applyAsInt(value);
            count++;
            if (garbage) {
                blocks[(int) (count % blocks.length)] = new byte[BLOCK_BYTES];
            }
            long elapsed = System.nanoTime() - start;
            if (elapsed < next) {
                continue;
            }
            next = elapsed + PROGRESS_NS;
            if (!up) {
                System.out.println("up");
                up = true;
            }
            if (progress) {
                System.out.println("operations " + count);
            }
            if (elapsed / 1_000_000_000L >= seconds) {
                break;
            }
        }
        sink = value;
    }
}
