import java.util.Arrays;

/**
 * Arrays of one content are filled, loaded from once and dropped: no load is silent. But nearly every one is of an
 * address that was loaded from before a collection, when another array with the same content lay there.
 */
final class LoadedOnce {
    private static final int ELEMENTS = 4096;
    private static final int ROUNDS = 64;
    private static final long CONTENT = 7;

    /** So that they are made at all. */
    private static volatile long[] last;

    private LoadedOnce() {}

    /** Each step waits for the one before, so that nearly all the time is spent in the loop that loads. */
    static long load(long[] a, long value) {
        for (int i = 0; i < a.length; i++) {
            value = value * 31 + a[i];
        }
        return value;
    }

    static int rounds(int value) {
        long sum = value;
        for (int r = 0; r < ROUNDS; r++) {
            long[] a = new long[ELEMENTS];
            Arrays.fill(a, CONTENT);
            last = a;
            sum = load(a, sum);
        }
        return (int) sum;
    }

    /** So that there is a thread that runs on until a collection, which another one has asked for, stops it. */
    private static void workBeside() {
        Thread beside = new Thread(() -> {
            int value = 1;
            while (true) {
                value = rounds(value);
            }
        });
        beside.setDaemon(true);
        beside.start();
    }

    public static void main(String[] args) {
        workBeside();
        Workload.repeat(args, LoadedOnce::rounds);
    }
}
