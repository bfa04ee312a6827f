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
        boolean[] same = Truth.marks(N / 2, 0.25);
        Object[] a = new Object[N];
        Object[] b = new Object[N];
        for (int i = 0; i < N; i++) {
            a[i] = new Object();
            b[i] = same[i / 2] ? a[i] : new Object();
        }
        Object[] to = new Object[N];
        new Truth()
            .phase("copy", round -> passes(to, a, b, round))
            .stores(2.0 * N * PASSES, Truth.UNKNOWN, 0.25)
            .run();
    }
}
