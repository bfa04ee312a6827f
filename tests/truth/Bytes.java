/** A byte array is filled with the bytes of two others in turn, which agree in 60% of their aligned groups of eight. */
final class Bytes {
    private static final int N = 32768;
    private static final int PASSES = 100;

    private Bytes() {}

    static void fill(byte[] to, byte[] from, int add) {
        for (int i = 0; i < N; i++) {
            to[i] = (byte) (from[i] ^ add);
        }
    }

    static long passes(byte[] to, byte[] a, byte[] b, long round) {
        for (int p = 0; p < PASSES; p++) {
            fill(to, a, 5);
            fill(to, b, 5);
        }
        return round;
    }

    public static void main(String[] args) {
        byte[] to = new byte[N];
        byte[] a = new byte[N];
        byte[][] others = new byte[Truth.SETS][N];
        for (int k = 0; k < others.length; k++) {
            boolean[] same = Truth.marks(N / 8, 0.6, k);
            for (int i = 0; i < N; i++) {
                others[k][i] = (byte) (same[i / 8] ? 0 : 1);
            }
        }
        new Truth()
            .phase("fill", round -> passes(to, a, others[Truth.turn(round)], round))
            .stores(2.0 * N * PASSES, 1, 0.6)
            .loads(2.0 * N * PASSES, 1)
            .run();
    }
}
