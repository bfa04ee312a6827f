/**
 * A long array is written, then 70% of its elements, at random places, are read: the stores to the other
 * 30% are dead. No store repeats a value.
 */
final class LongDead {
    private static final int N = 16384;
    private static final int PASSES = 100;

    private LongDead() {}

    static void write(long[] a, long value) {
        for (int i = 0; i < N; i++) {
            a[i] = value + i;
        }
    }

    static long read(long[] a, int[] places) {
        long sum = 0;
        for (int i = 0; i < places.length; i++) {
            sum += a[places[i]];
        }
        return sum;
    }

    static long passes(long[] a, int[] places, long round) {
        long sum = 0;
        for (int p = 0; p < PASSES; p++) {
            write(a, round * PASSES + p);
            sum += read(a, places);
        }
        return sum;
    }

    public static void main(String[] args) {
        int[][] places = new int[Truth.SETS][];
        for (int k = 0; k < places.length; k++) {
            places[k] = Truth.places(Truth.marks(N, 0.7, k));
        }
        long[] a = new long[N];
        new Truth()
            .phase("write and read", round -> passes(a, places[Truth.turn(round)], round))
            .stores(1.0 * N * PASSES, 1 - places[0].length / (double) N, 0)
            .run();
    }
}
