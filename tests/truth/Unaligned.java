/** Like IntMasked, from the second element on: vectors that cross 8-byte blocks and cache lines. 70% repeat. */
final class Unaligned {
    private static final int N = 16384;
    private static final int PASSES = 100;

    private Unaligned() {}

    static void pass(int[] a, int[] mask, int value, int from) {
        for (int i = from; i < N; i++) {
            a[i] = value & mask[i];
        }
    }

    static long passes(int[] a, int[] mask, long round) {
        for (int p = 0; p < PASSES; p++) {
            pass(a, mask, (int) round * PASSES + p, 1 + (p & 3));
        }
        return round;
    }

    public static void main(String[] args) {
        int[] a = new int[N];
        int[][] masks = new int[Truth.SETS][];
        for (int k = 0; k < masks.length; k++) {
            masks[k] = Truth.intMask(N, 0.7, k);
        }
        new Truth()
            .phase("fill", round -> passes(a, masks[Truth.turn(round)], round))
            .stores(1.0 * N * PASSES, 1, Truth.repeated(0.7, PASSES))
            .loads(1.0 * N * PASSES, 1)
            .run();
    }
}
