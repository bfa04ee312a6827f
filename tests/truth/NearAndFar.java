/**
 * Loads that are repeated within microseconds and are silent, and loads that are repeated after the tens of
 * milliseconds that a whole round takes and are not. A register that waits for the latter may be taken
 * over by a later sample; that must not make the former seem more frequent.
 */
final class NearAndFar {
    private static final int NEAR = 2048;
    private static final int NEAR_PASSES = 40_000;
    private static final int FAR = 24_000_000;

    private NearAndFar() {}

    static long sum(long[] a, int[] places) {
        long sum = 0;
        for (int i = 0; i < places.length; i++) {
            sum += a[i];
        }
        return sum;
    }

    static long near(long[] a, int[] places) {
        long sum = 0;
        for (int p = 0; p < NEAR_PASSES; p++) {
            sum += sum(a, places);
        }
        return sum;
    }

    static long far(long[] a) {
        for (int i = 0; i < FAR; i += 1000) {
            add(a, i);
        }
        return a[0];
    }

    static void add(long[] a, int from) {
        for (int i = from; i < from + 1000; i++) {
            a[i] += 3;
        }
    }

    public static void main(String[] args) {
        long[] small = new long[NEAR];
        long[] large = new long[FAR];
        int[] places = new int[NEAR];
        new Truth()
            .phase("near", round -> near(small, places))
            .loads(1.0 * NEAR * NEAR_PASSES, 1)
            .phase("far", round -> far(large))
            .loads(FAR, 0)
            .run();
    }
}
