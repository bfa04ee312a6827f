/**
 * Loads that are repeated within microseconds and are silent, and loads that are repeated after the tens of
 * milliseconds that a whole round takes and are not. A register that waits for the latter may be taken
 * over by a later sample; that must not make the former seem more frequent.
 */
final class NearAndFar {
    private static final int NEAR = 2048;
    private static final int NEAR_PASSES = 30_000;
    private static final int FAR = 16_000_000;

    private NearAndFar() {}

    /** Each step depends on the one before, here and below: no vectors. */
    static long sum(long[] a) {
        long sum = 0;
        for (int i = 0; i < NEAR; i++) {
            sum = sum * 31 + a[i];
        }
        return sum;
    }

    static long near(long[] a) {
        long sum = 0;
        for (int p = 0; p < NEAR_PASSES; p++) {
            sum += sum(a);
        }
        return sum;
    }

    static long change(long[] a, int from, int to, long x) {
        for (int i = from; i < to; i++) {
            x = (x ^ x >>> 7) * 5 + a[i];
            x = (x ^ x >>> 9) * 3;
            a[i] = x;
        }
        return x;
    }

    /** In pieces, so that the loop is compiled as a whole. */
    static long far(long[] a) {
        long x = 1;
        for (int i = 0; i < FAR; i += 1000) {
            x = change(a, i, i + 1000, x);
        }
        return x;
    }

    public static void main(String[] args) {
        long[] small = new long[NEAR];
        long[] large = new long[FAR];
        new Truth()
            .phase("near", round -> near(small))
            .loads(1.0 * NEAR * NEAR_PASSES, 1)
            .phase("far", round -> far(large))
            .loads(FAR, 0)
            .run();
    }
}
