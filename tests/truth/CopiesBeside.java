/**
 * Three loops side by side: one loads what never changes and stores it elsewhere, the next one accesses nothing, the last one
 * changes what it loads. The two that load are of one shape.
 */
final class CopiesBeside {
    private static final int N = 2048;
    private static final int ROUNDS = 20;
    private static final int STEPS = 2048;
    private static final int[][] MIXES = {{8, 1, 4}, {8, 3, 4}, {8, 1, 12}};

    private CopiesBeside() {}

    static void add(long[] from, long[] to, long value) {
        for (int i = 0; i < N; i++) {
            to[i] = from[i] + value;
        }
    }

    static long compute(long seed) {
        long x = seed;
        for (int i = 0; i < STEPS; i++) {
            x = (x ^ x >>> 7) * 31;
        }
        return x;
    }

    static long work(long[][] arrays, int[] times, long round) {
        long[] from = arrays[0];
        long[] to = arrays[1];
        long[] changing = arrays[2];
        int copies = times[0];
        int steps = times[1];
        int changes = times[2];
        long x = round;
        for (int r = 0; r < ROUNDS; r++) {
            for (int k = 0; k < copies; k++) {
                add(from, to, x + k);
            }
            for (int k = 0; k < steps; k++) {
                x = compute(x);
            }
            for (int k = 0; k < changes; k++) {
                add(changing, changing, x | 1);
            }
        }
        return x;
    }

    public static void main(String[] args) {
        long[][] arrays = {Truth.longMask(N, 0.5, 1), new long[N], new long[N]};
        new Truth()
            .mixes((times, round) -> work(arrays, times, round), MIXES)
            .loop("copy")
            .stores(1.0 * N * ROUNDS, 1, Truth.UNKNOWN)
            .loads(1.0 * N * ROUNDS, 1)
            .loop("compute")
            .loop("change")
            .stores(1.0 * N * ROUNDS, 0, 0)
            .loads(1.0 * N * ROUNDS, 0)
            .run();
    }
}
