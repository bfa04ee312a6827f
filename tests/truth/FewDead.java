/** A long array is written at places in random order, then all but 5% of it is loaded. */
final class FewDead {
    private static final int N = 8192;
    private static final int PASSES = 50;

    private FewDead() {}

    static void write(long[] a, int[] places, long value) {
        for (int i = 0; i < places.length; i++) {
            a[places[i]] = value;
        }
    }

    static long read(long[] a, int[] places) {
        long sum = 0;
        for (int i = 0; i < places.length; i++) {
            sum += a[places[i]];
        }
        return sum;
    }

    static long passes(long[] a, int[] all, int[] live, long round) {
        long sum = 0;
        for (int p = 0; p < PASSES; p++) {
            write(a, all, round * PASSES + p);
            sum += read(a, live);
        }
        return sum;
    }

    public static void main(String[] args) {
        long[] a = new long[N];
        int[][] live = new int[Truth.SETS][];
        for (int k = 0; k < live.length; k++) {
            live[k] = Truth.places(Truth.marks(N, 0.95, k));
        }
        int[] all = Truth.shuffled(N);
        new Truth()
            .phase("write and read", round -> passes(a, all, live[Truth.turn(round)], round))
            .stores(1.0 * N * PASSES, 1 - live[0].length / (double) N, 0)
            .run();
    }
}
