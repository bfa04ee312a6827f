/** A long array is written at places in random order nine times before half of its elements are loaded. */
final class MostlyDead {
    private static final int N = 8192;
    private static final int WRITES = 9;
    private static final int PASSES = 10;

    private MostlyDead() {}

    static long passes(long[] a, int[] all, int[] live, long round) {
        long sum = 0;
        for (int p = 0; p < PASSES; p++) {
            for (int w = 0; w < WRITES; w++) {
                FewDead.write(a, all, (round * PASSES + p) * WRITES + w);
            }
            sum += FewDead.read(a, live);
        }
        return sum;
    }

    public static void main(String[] args) {
        long[] a = new long[N];
        int[] all = Truth.shuffled(N);
        int[][] live = new int[Truth.SETS][];
        for (int k = 0; k < live.length; k++) {
            live[k] = Truth.places(Truth.marks(N, 0.5, k));
        }
        new Truth()
            .phase("write and read", round -> passes(a, all, live[Truth.turn(round)], round))
            .stores(1.0 * N * WRITES * PASSES, 1 - 0.5 / WRITES, 0)
            .run();
    }
}
