/**
 * Three loops side by side in one method: one's stores are silent in 60% of the elements, the next loop stores nothing, and the
 * last one's stores are never silent. The two that store are of one shape.
 */
final class SideBySide {
    private static final int N = 8192;
    private static final int ROUNDS = 5;
    private static final int[][] MIXES = {{8, 1, 4}, {4, 3, 4}, {4, 1, 12}};

    private SideBySide() {}

    static void fill(long[] a, long[] mask, long value) {
        for (int i = 0; i < N; i++) {
            a[i] = value & mask[i];
        }
    }

    static long look(long[] a, long seed) {
        long sum = seed;
        for (int i = 0; i < N; i++) {
            sum = (sum ^ a[i]) * 31;
        }
        return sum;
    }

    static long work(long[][] arrays, long[] mask, int[] times, long round) {
        long[] some = arrays[0];
        long[] looked = arrays[1];
        long[] never = arrays[2];
        long[] all = arrays[3];
        int fills = times[0];
        int looks = times[1];
        int others = times[2];
        long value = round * 16 * ROUNDS;
        long sum = round;
        for (int r = 0; r < ROUNDS; r++) {
            for (int k = 0; k < fills; k++) {
                fill(some, mask, ++value);
            }
            for (int k = 0; k < looks; k++) {
                sum = look(looked, sum);
            }
            for (int k = 0; k < others; k++) {
                fill(never, all, ++value);
            }
        }
        return sum;
    }

    public static void main(String[] args) {
        long[][] masks = new long[Truth.SETS][];
        for (int k = 0; k < masks.length; k++) {
            masks[k] = Truth.longMask(N, 0.6, k);
        }
        long[][] arrays = {new long[N], new long[N], new long[N], Truth.longMask(N, 0, 0)};
        new Truth()
            .mixes((times, round) -> work(arrays, masks[Truth.turn(round / MIXES.length)], times, round), MIXES)
            .loop("some silent")
            .stores(1.0 * N * ROUNDS, 1, 0.6)
            .loop("look")
            .loads(1.0 * N * ROUNDS, 1)
            .loop("never silent")
            .stores(1.0 * N * ROUNDS, 1, 0)
            .run();
    }
}
