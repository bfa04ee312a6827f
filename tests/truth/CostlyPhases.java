/**
 * Cheap stores that are dead, and expensive ones that are loaded by nobody but themselves: by access nearly
 * all are dead, by time about half.
 */
final class CostlyPhases {
    private static final int N = 8192;
    private static final int PASSES = 400;
    private static final int COSTLY_PASSES = 10;

    private CostlyPhases() {}

    static void fill(long[] a, long value) {
        long x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
    }

    static long cheap(long[] a, long round) {
        for (int p = 0; p < PASSES; p++) {
            fill(a, round * PASSES + p);
        }
        return round;
    }

    /** Adds a number that takes long to compute: never dead, never the same value twice. */
    static long add(long[] a, long seed) {
        long x = seed | 1;
        for (int i = 0; i < N; i++) {
            x = Truth.slow(x);
            a[i] += x | 1;
        }
        return x;
    }

    static long expensive(long[] a, long round) {
        long x = round;
        for (int p = 0; p < COSTLY_PASSES; p++) {
            x = add(a, x);
        }
        return x;
    }

    public static void main(String[] args) {
        long[] a = new long[N];
        long[] b = new long[N];
        new Truth()
            .phase("cheap", round -> cheap(a, round))
            .stores(1.0 * N * PASSES, 1, 0)
            .phase("expensive", round -> expensive(b, round))
            .stores(1.0 * N * COSTLY_PASSES, 0, 0)
            .loads(1.0 * N * COSTLY_PASSES, 0)
            .run();
    }
}
