/**
 * A loop calls a method that fills an array in a loop of its own, then computes for long and stores what is loaded when its place
 * comes again: only the callee's stores are dead.
 */
final class AfterCalls {
    private static final int CALLS = 1000;
    private static final int LOG = 64;
    private static final int N = 48;
    private static final int[][] MIXES = {{3, 1}, {3, 3}};

    private AfterCalls() {}

    /** Not inlined. */
    static long fill(long[] a, int n, long value) {
        long x = value;
        for (int i = 0; i < n; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
        return x;
    }

    static long work(long[] log, long[] a, int[] times, long round) {
        int n = N * times[1] / times[0];
        int rounds = times[0];
        long x = round;
        for (int r = 0; r < rounds; r++) {
            for (int k = 0; k < CALLS; k++) {
                int place = k & LOG - 1;
                x = Truth.slow(fill(a, n, x) + log[place]);
                log[place] = x;
            }
        }
        return x;
    }

    public static void main(String[] args) {
        long[] log = new long[LOG];
        long[] a = new long[N];
        new Truth()
            .mixes((times, round) -> work(log, a, times, round), MIXES)
            .loop("own")
            .stores(CALLS, 0, 0)
            .loop("callee")
            .stores(1.0 * CALLS * N, 1, 0)
            .run();
    }
}
