/**
 * Nested loops: the outer one computes for long and stores a row's header, which the inner one, that only loads, loads
 * in every later row: never dead. Beside them a fill that nobody loads.
 */
final class RowHeaders {
    private static final int ROWS = 64;
    private static final int N = 2048;
    private static final int ROUNDS = 6;
    private static final int[][] MIXES = {{2, 2, 2}, {2, 6, 2}, {2, 2, 6}};

    private RowHeaders() {}

    static long rows(long[] headers, int length, long seed) {
        long x = seed;
        for (int row = 0; row < ROWS; row++) {
            x = Truth.slow(x);
            headers[row] = x;
            for (int i = 0; i < length; i++) {
                x = (x ^ headers[i & ROWS - 1]) * 31;
            }
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

    static long work(long[] headers, long[] a, int[] times, long round) {
        int rows = times[0];
        int length = ROWS * times[1] / rows;
        int fills = times[2];
        long x = round;
        for (int r = 0; r < ROUNDS; r++) {
            for (int k = 0; k < rows; k++) {
                x = rows(headers, length, x);
            }
            for (int k = 0; k < fills; k++) {
                fill(a, x + k);
            }
        }
        return x;
    }

    public static void main(String[] args) {
        long[] headers = new long[ROWS];
        long[] a = new long[N];
        new Truth()
            .mixes((times, round) -> work(headers, a, times, round), MIXES)
            .loop("headers")
            .stores(1.0 * ROWS * ROUNDS, 0, 0)
            .loop("rows")
            .loads(1.0 * ROWS * ROWS * ROUNDS, Truth.UNKNOWN)
            .loop("fill")
            .stores(1.0 * N * ROUNDS, 1, 0)
            .run();
    }
}
