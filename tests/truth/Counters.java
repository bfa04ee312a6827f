/**
 * Read-modify-write: counters are incremented three times, then set to 0. An increment is dead when no other
 * comes before the 0 (1 of 3). No counter holds the same value at two increments in a row.
 */
final class Counters {
    private static final int N = 8192;
    private static final int PASSES = 40;
    private static final int INCREMENTS = 3;

    private Counters() {}

    static void increment(long[] counters, int[] places) {
        for (int i = 0; i < N; i++) {
            counters[places[i]]++;
        }
    }

    static void clear(long[] counters, int[] places) {
        for (int i = 0; i < N; i++) {
            counters[places[i]] = 0;
        }
    }

    static long passes(long[] counters, int[] places, long round) {
        for (int p = 0; p < PASSES; p++) {
            clear(counters, places);
            for (int k = 0; k < INCREMENTS; k++) {
                increment(counters, places);
            }
        }
        return round;
    }

    public static void main(String[] args) {
        long[] counters = new long[N];
        int[] places = Truth.shuffled(N);
        new Truth()
            .phase("count", round -> passes(counters, places, round))
            .stores(1.0 * N * PASSES * (1 + INCREMENTS), 0.25, 0)
            .run();
    }
}
