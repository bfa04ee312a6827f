/**
 * A loop computes and stores a short that is new each time, and computes for as long and stores a long that is the same each
 * time. Half of the time belongs to each, and a long counts as much as four shorts.
 */
final class TwoWidths {
    private static final int N = 256;
    private static final int PASSES = 8;

    private TwoWidths() {}

    static long pass(short[] shorts, long[] longs, int add) {
        long x = 1;
        for (int i = 0; i < N; i++) {
            x = Truth.slow(x);
            shorts[i] = (short) (x + add);
            x = Truth.slow(x);
            longs[i] = x;
        }
        return x;
    }

    static long passes(short[] shorts, long[] longs, long round) {
        long x = 0;
        for (int p = 0; p < PASSES; p++) {
            x += pass(shorts, longs, (int) round * PASSES + p);
        }
        return x;
    }

    public static void main(String[] args) {
        short[] shorts = new short[N];
        long[] longs = new long[N];
        new Truth()
            .phase("passes", round -> passes(shorts, longs, round))
            .stores(2.0 * N * PASSES, 1, 8.0 / (8 + 2))
            .run();
    }
}
