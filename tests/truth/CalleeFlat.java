/**
 * A loop whose only stores are in a method that is called: straight code, after a long computation in both. They are loaded
 * at once: never dead. Beside it a fill that nobody loads.
 */
final class CalleeFlat {
    private static final int CALLS = 500;
    private static final int N = 2048;
    private static final int ROUNDS = 3;
    private static final int[][] MIXES = {{1, 6}, {1, 18}};

    private CalleeFlat() {}

    private static final class Cell {
        long value;
    }

    /** Not inlined. */
    static long put(Cell cell, long x) {
        long y = Truth.slow(x);
        cell.value = y;
        return y;
    }

    static void fill(long[] a, long value) {
        long x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
    }

    static long work(Cell cell, long[] a, int[] times, long round) {
        int fills = times[1];
        long x = round;
        for (int r = 0; r < ROUNDS; r++) {
            for (int k = 0; k < CALLS; k++) {
                x = put(cell, Truth.slow(x)) + 31 * cell.value;
            }
            for (int k = 0; k < fills; k++) {
                fill(a, x + k);
            }
        }
        return x;
    }

    public static void main(String[] args) {
        Cell cell = new Cell();
        long[] a = new long[N];
        new Truth()
            .mixes((times, round) -> work(cell, a, times, round), MIXES)
            .loop("calls")
            .stores(1.0 * CALLS * ROUNDS, 0, 0)
            .loop("fill")
            .stores(1.0 * N * ROUNDS, 1, 0)
            .run();
    }
}
