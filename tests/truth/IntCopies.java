/**
 * An int array is overwritten in turn with two others that agree in 30% of their elements. The others would be within 1% of
 * each other, if their bits were those of floats; they are not the same.
 */
final class IntCopies {
    private static final int N = 16384;
    private static final int PASSES = 200;

    private IntCopies() {}

    static long passes(int[] a, int[] b, int[] to, long round) {
        for (int p = 0; p < PASSES; p++) {
            System.arraycopy(a, 0, to, 0, N);
            System.arraycopy(b, 0, to, 0, N);
        }
        return round;
    }

    public static void main(String[] args) {
        int[] a = new int[N];
        int[][] others = new int[Truth.SETS][N];
        for (int i = 0; i < N; i++) {
            a[i] = Float.floatToRawIntBits(1000 + i);
        }
        for (int k = 0; k < others.length; k++) {
            boolean[] same = Truth.marks(N / 2, 0.3, k);
            for (int i = 0; i < N; i++) {
                others[k][i] = same[i / 2] ? a[i] : Float.floatToRawIntBits((1000 + i) * 1.005f);
            }
        }
        int[] to = new int[N];
        new Truth()
            .phase("copy", round -> passes(a, others[Truth.turn(round)], to, round))
            .stores(2.0 * N * PASSES, 1, 0.3)
            .run();
    }
}
