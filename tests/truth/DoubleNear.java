/**
 * A double array gets values that alternate: for 40% of the elements by 0.5%, which counts as the
 * same value (JXPerf section 4: within 1%), for the others by 50%. It is never loaded.
 */
final class DoubleNear {
    private static final int N = 8192;
    private static final int PASSES = 100;

    private DoubleNear() {}

    static void pass(double[] a, double[] delta, double factor) {
        for (int i = 0; i < N; i++) {
            a[i] = 100 + factor * delta[i];
        }
    }

    static long passes(double[] a, double[] delta, long round) {
        for (int p = 0; p < PASSES; p++) {
            pass(a, delta, p & 1);
        }
        return round;
    }

    public static void main(String[] args) {
        double[] a = new double[N];
        double[][] deltas = new double[Truth.SETS][N];
        for (int k = 0; k < deltas.length; k++) {
            boolean[] near = Truth.marks(N, 0.4, k);
            for (int i = 0; i < N; i++) {
                deltas[k][i] = near[i] ? 0.5 : 50;
            }
        }
        new Truth()
            .phase("fill", round -> passes(a, deltas[Truth.turn(round)], round))
            .stores(1.0 * N * PASSES, 1, Truth.repeated(0.4, PASSES))
            .loads(1.0 * N * PASSES, 1)
            .run();
    }
}
