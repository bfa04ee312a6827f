/**
 * Three nested loops: the innermost accumulates in registers, the one in the middle computes for long and stores what is
 * the same each time, the outer one stores nothing. Beside them a fill whose values are always new.
 */
final class TripleNest {
    private static final int SIDE = 64;
    private static final int ROUNDS = 3;
    private static final int PLANES = 3;
    private static final int N = 2048;
    private static final int[][] MIXES = {{1, 1, 3}, {1, 4, 3}, {1, 1, 9}};

    private TripleNest() {}

    /** Each step depends on the one before, so that the loops' times do not overlap. */
    static void nest(long[] from, long[] to, int length) {
        long x = 1;
        for (int plane = 0; plane < PLANES; plane++) {
            for (int row = 0; row < SIDE; row++) {
                for (int i = 0; i < length; i++) {
                    x = (x ^ from[i & SIDE - 1]) * 31;
                }
                x = Truth.slow(x);
                to[plane * SIDE + row] = x;
            }
        }
    }

    static void fill(long[] a, long value) {
        long x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
    }

    static long work(long[][] arrays, int[] times, long round) {
        long[] from = arrays[0];
        long[] to = arrays[times[1] == 1 ? 1 : 2];
        long[] a = arrays[3];
        int length = SIDE * times[1];
        int fills = times[2];
        for (int r = 0; r < ROUNDS; r++) {
            nest(from, to, length);
            for (int k = 0; k < fills; k++) {
                fill(a, (round * ROUNDS + r) * fills + k);
            }
        }
        return round;
    }

    public static void main(String[] args) {
        long[][] arrays = {Truth.longMask(SIDE, 0.5, 1), new long[PLANES * SIDE], new long[PLANES * SIDE], new long[N]};
        new Truth()
            .mixes((times, round) -> work(arrays, times, round), MIXES)
            .loop("middle")
            .stores(1.0 * PLANES * SIDE * ROUNDS, 1, 1)
            .loop("innermost")
            .loads(1.0 * PLANES * SIDE * SIDE * ROUNDS, 1)
            .loop("fill")
            .stores(1.0 * N * ROUNDS, 1, 0)
            .run();
    }
}
