/** A long array that gets new values but for a known part of its elements, which are at random places. */
final class MaskedLongs {
    static final int N = 8192;
    static final int PASSES = 100;
    static final double ACCESSES = 1.0 * N * PASSES;

    private final long[] a = new long[N];
    private final long[][] masks = new long[Truth.SETS][];

    MaskedLongs(double same) {
        for (int k = 0; k < masks.length; k++) {
            masks[k] = Truth.longMask(N, same, k);
        }
    }

    static void pass(long[] a, long[] mask, long value) {
        for (int i = 0; i < N; i++) {
            a[i] = value & mask[i];
        }
    }

    long passes(long round) {
        long[] mask = masks[Truth.turn(round)];
        for (int p = 0; p < PASSES; p++) {
            pass(a, mask, round * PASSES + p);
        }
        return round;
    }
}
