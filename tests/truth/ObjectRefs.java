/**
 * References are copied in turn from two arrays that agree in 25% of their elements: the stub for arrays of
 * objects, between the barriers of the collector.
 */
final class ObjectRefs {
    private static final int N = 8192;
    private static final int PASSES = 50;

    private ObjectRefs() {}

    static long passes(Object[] to, Object[] a, Object[] b, long round) {
        for (int p = 0; p < PASSES; p++) {
            System.arraycopy(a, 0, to, 0, N);
            System.arraycopy(b, 0, to, 0, N);
        }
        return round;
    }

    public static void main(String[] args) {
        Object[] a = new Object[N];
        Object[] other = new Object[N];
        for (int i = 0; i < N; i++) {
            a[i] = new Object();
            other[i] = new Object();
        }
        Object[][] others = new Object[Truth.SETS][N];
        for (int k = 0; k < others.length; k++) {
            boolean[] same = Truth.marks(N / 2, 0.25, k);
            for (int i = 0; i < N; i++) {
                others[k][i] = same[i / 2] ? a[i] : other[i];
            }
        }
        Object[] to = new Object[N];
        new Truth()
            .phase("copy", round -> passes(to, a, others[Truth.turn(round)], round))
            .stores(2.0 * N * PASSES, Truth.UNKNOWN, 0.25)
            .run();
    }
}
