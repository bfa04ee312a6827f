/**
 * Two arrays that agree in 30% of their elements are copied in turn to a third, which is never loaded:
 * the array copy stub.
 */
final class ArrayCopies {
    private static final int N = 8192;
    private static final int PASSES = 200;

    private ArrayCopies() {}

    static long passes(long[] a, long[] b, long[] to, long round) {
        for (int p = 0; p < PASSES; p++) {
            System.arraycopy(a, 0, to, 0, N);
            System.arraycopy(b, 0, to, 0, N);
        }
        return round;
    }

    public static void main(String[] args) {
        long[] a = new long[N];
        long[][] others = new long[Truth.SETS][N];
        long[] to = new long[N];
        for (int k = 0; k < others.length; k++) {
            boolean[] same = Truth.marks(N, 0.3, k);
            for (int i = 0; i < N; i++) {
                others[k][i] = same[i] ? 0 : 1 + i;
            }
        }
        new Truth()
            .phase("copy", round -> passes(a, others[Truth.turn(round)], to, round))
            .stores(2.0 * N * PASSES, 1, 0.3)
            .loads(2.0 * N * PASSES, 1)
            .run();
    }
}
