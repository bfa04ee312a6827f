/**
 * Nested loops: the outer one loads a number a row, computes for long with it and stores another, so no load is silent; the
 * inner one only stores, elsewhere. Beside them a loop over an array that never changes.
 */
final class RowSums {
    private static final int ROWS = 64;
    private static final int N = 2048;
    private static final int ROUNDS = 6;
    private static final int[][] MIXES = {{2, 2, 2}, {2, 6, 2}, {2, 2, 6}};

    private RowSums() {}

    static long rows(long[] numbers, long[] others, int length, long seed) {
        long x = seed;
        for (int row = 0; row < ROWS; row++) {
            x = Truth.slow(x ^ numbers[row]);
            for (int i = 0; i < length; i++) {
                x = x * 5 + 1;
                others[i & ROWS - 1] = x;
            }
            numbers[row] = x;
        }
        return x;
    }

    static long sum(long[] a, long seed) {
        long x = seed;
        for (int i = 0; i < N; i++) {
            x = (x ^ a[i]) * 31;
        }
        return x;
    }

    static long work(long[] numbers, long[] others, long[] a, int[] times, long round) {
        int rows = times[0];
        int length = ROWS * times[1] / rows;
        int sums = times[2];
        long x = round;
        for (int r = 0; r < ROUNDS; r++) {
            for (int k = 0; k < rows; k++) {
                x = rows(numbers, others, length, x);
            }
            for (int k = 0; k < sums; k++) {
                x = sum(a, x);
            }
        }
        return x;
    }

    public static void main(String[] args) {
        long[] numbers = new long[ROWS];
        long[] others = new long[ROWS];
        long[] a = new long[N];
        new Truth()
            .mixes((times, round) -> work(numbers, others, a, times, round), MIXES)
            .loop("numbers")
            .loads(1.0 * ROWS * ROUNDS, 0)
            .loop("rows")
            .stores(1.0 * ROWS * ROWS * ROUNDS, Truth.UNKNOWN, Truth.UNKNOWN)
            .loop("sum")
            .loads(1.0 * N * ROUNDS, 1)
            .run();
    }
}
