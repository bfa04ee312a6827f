/**
 * A byte array is filled and loaded, a long array is only filled, in one method. A dead store of a long counts as much as eight
 * of bytes.
 */
final class BytesAndLongs {
    private static final int N = 4096;
    private static final int ROUNDS = 5;
    private static final int[][] MIXES = {{8, 8, 1}, {8, 24, 1}, {8, 8, 8}};

    private BytesAndLongs() {}

    static int fillBytes(byte[] a, int value) {
        int x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = (byte) (x >>> 16);
        }
        return x;
    }

    static int look(byte[] a, int seed) {
        int x = seed;
        for (int i = 0; i < N; i++) {
            x += a[i];
        }
        return x;
    }

    static void fillLongs(long[] a, long value) {
        long x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
    }

    static long work(byte[] bytes, long[] longs, int[] times, long round) {
        int fills = times[0];
        int looks = times[1] / times[0];
        int others = times[2];
        int x = (int) round;
        for (int r = 0; r < ROUNDS; r++) {
            for (int k = 0; k < fills; k++) {
                x = fillBytes(bytes, x);
                for (int l = 0; l < looks; l++) {
                    x = look(bytes, x);
                }
            }
            for (int k = 0; k < others; k++) {
                fillLongs(longs, x + k);
            }
        }
        return x;
    }

    public static void main(String[] args) {
        byte[] bytes = new byte[N];
        long[] longs = new long[N];
        new Truth()
            .mixes((times, round) -> work(bytes, longs, times, round), MIXES)
            .loop("bytes")
            .stores(1.0 * N * ROUNDS, 0, Truth.UNKNOWN)
            .width(1)
            .loop("look")
            .loads(1.0 * N * ROUNDS, Truth.UNKNOWN)
            .width(1)
            .loop("longs")
            .stores(1.0 * N * ROUNDS, 1, 0)
            .run();
    }
}
