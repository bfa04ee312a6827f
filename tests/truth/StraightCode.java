/**
 * A loop of straight code computes for very long between its stores, of the same values each time; beside it a fill whose values
 * are always new.
 */
final class StraightCode {
    private static final int N = 1024;
    private static final int STEPS = 64;
    private static final int ROUNDS = 8;
    private static final int[][] MIXES = {{1, 5}, {1, 15}};

    private StraightCode() {}

    static void compute(long[] a) {
        long x = 1;
        for (int i = 0; i < STEPS; i++) {
            x = Truth.slow(Truth.slow(Truth.slow(Truth.slow(Truth.slow(Truth.slow(x))))));
            a[i] = x;
        }
    }

    static void fill(long[] a, long value) {
        long x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
    }

    static long work(long[] same, long[] a, int[] times, long round) {
        int fills = times[1];
        for (int r = 0; r < ROUNDS; r++) {
            compute(same);
            for (int k = 0; k < fills; k++) {
                fill(a, (round * ROUNDS + r) * fills + k);
            }
        }
        return round;
    }

    public static void main(String[] args) {
        long[] same = new long[STEPS];
        long[] a = new long[N];
        new Truth()
            .mixes((times, round) -> work(same, a, times, round), MIXES)
            .loop("straight")
            .stores(1.0 * STEPS * ROUNDS, 1, 1)
            .loop("fill")
            .stores(1.0 * N * ROUNDS, 1, 0)
            .run();
    }
}
