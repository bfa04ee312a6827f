/**
 * A float array is overwritten in turn with two others, whose elements differ by 0.5% (60% of them: the same value, by the
 * tolerance of floating point) or by half. The stub that copies moves whatever it is.
 */
final class FloatCopies {
    private static final int N = 16384;
    private static final int PASSES = 200;

    private FloatCopies() {}

    static long passes(float[] a, float[] b, float[] to, long round) {
        for (int p = 0; p < PASSES; p++) {
            System.arraycopy(a, 0, to, 0, N);
            System.arraycopy(b, 0, to, 0, N);
        }
        return round;
    }

    public static void main(String[] args) {
        float[] a = new float[N];
        float[][] others = new float[Truth.SETS][N];
        for (int i = 0; i < N; i++) {
            a[i] = 1000 + i;
        }
        for (int k = 0; k < others.length; k++) {
            boolean[] near = Truth.marks(N / 2, 0.6, k);
            for (int i = 0; i < N; i++) {
                others[k][i] = a[i] * (near[i / 2] ? 1.005f : 1.5f);
            }
        }
        float[] to = new float[N];
        new Truth()
            .phase("copy", round -> passes(a, others[Truth.turn(round)], to, round))
            .stores(2.0 * N * PASSES, 1, 0.6)
            .run();
    }
}
