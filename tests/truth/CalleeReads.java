/**
 * A loop stores, computes for long and calls a method whose own loop only loads. What the loop stores is loaded after the
 * call: never dead. Beside it a fill that nobody loads.
 */
final class CalleeReads {
    private static final int CALLS = 500;
    private static final int LOG = 64;
    private static final int N = 2048;
    private static final int READS = 96;
    private static final int[][] MIXES = {{2, 2, 10}, {2, 6, 10}, {2, 2, 30}};

    private CalleeReads() {}

    /** Not inlined. */
    static long read(long[] a, int n, long seed) {
        long x = seed;
        for (int i = 0; i < n; i++) {
            x = (x ^ a[i]) * 31;
        }
        return x;
    }

    static void fill(long[] a, long value) {
        long x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
    }

    static long work(long[][] arrays, int[] times, long round) {
        long[] log = arrays[0];
        long[] a = arrays[1];
        long[] filled = arrays[2];
        int rounds = times[0];
        int n = READS * times[1] / times[0];
        int fills = times[2];
        long x = round;
        for (int r = 0; r < rounds; r++) {
            for (int k = 0; k < CALLS; k++) {
                int place = k & LOG - 1;
                log[place] = x;
                x = Truth.slow(x);
                x = read(a, n, x) + log[place];
            }
        }
        for (int k = 0; k < fills; k++) {
            fill(filled, x + k);
        }
        return x;
    }

    public static void main(String[] args) {
        long[][] arrays = {new long[LOG], new long[N], new long[N]};
        new Truth()
            .mixes((times, round) -> work(arrays, times, round), MIXES)
            .loop("own")
            .stores(CALLS, 0, 0)
            .loop("callee")
            .loads(1.0 * CALLS * READS, 1)
            .loop("fill")
            .stores(N, 1, 0)
            .run();
    }
}
