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
        int[] live = Truth.places(Truth.marks(N, 0.5));
        new Truth()
            .phase("write and read", round -> passes(a, all, live, round))
            .stores(1.0 * N * WRITES * PASSES, 1 - 0.5 / WRITES, 0)
            .run();
    }
}
