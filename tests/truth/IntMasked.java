/**
 * An int array is filled with base + (round and mask): where the mask is 0, for 30% of the elements,
 * the same value again. It is never loaded, and what is loaded never changes. One vectorised loop.
 */
final class IntMasked {
    private static final int N = 16384;
    private static final int PASSES = 100;

    private IntMasked() {}

    static void pass(int[] a, int[] base, int[] mask, int round) {
        for (int i = 0; i < N; i++) {
            a[i] = base[i] + (round & mask[i]);
        }
    }

    static long passes(int[] a, int[] base, int[] mask, long round) {
        for (int p = 0; p < PASSES; p++) {
            pass(a, base, mask, (int) round * PASSES + p);
        }
        return round;
    }

    public static void main(String[] args) {
        int[] a = new int[N];
        int[] base = new int[N];
        int[][] masks = new int[Truth.SETS][];
        for (int k = 0; k < masks.length; k++) {
            masks[k] = Truth.intMask(N, 0.3, k);
        }
        new Truth()
            .phase("fill", round -> passes(a, base, masks[Truth.turn(round)], round))
            .stores(1.0 * N * PASSES, 1, Truth.repeated(0.3, PASSES))
            .loads(2.0 * N * PASSES, 1)
            .run();
    }
}
