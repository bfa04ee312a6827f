import java.util.zip.Deflater;

/**
 * Stores that are all dead, but in the lesser part of the time: the rest goes to a loop that touches no memory, and to
 * native code. All of what is checked is wasteful, and a small share of the CPU time.
 */
final class MostlyElsewhere {
    private static final int N = 8192;
    private static final int PASSES = 100;
    private static final int STEPS = 400_000;
    private static final int BYTES = 128 * 1024;

    private MostlyElsewhere() {}

    static void fill(long[] a, long value) {
        long x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
    }

    static long passes(long[] a, long round) {
        for (int p = 0; p < PASSES; p++) {
            fill(a, round * PASSES + p);
        }
        return round;
    }

    static long compute(long seed) {
        long x = seed | 1;
        for (int i = 0; i < STEPS; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static long compress(Deflater deflater, byte[] from, byte[] to, long round) {
        from[(int) (round % BYTES)] = (byte) round;
        deflater.reset();
        deflater.setInput(from);
        deflater.finish();
        return deflater.deflate(to);
    }

    public static void main(String[] args) {
        long[] a = new long[N];
        byte[] from = new byte[BYTES];
        byte[] to = new byte[2 * BYTES];
        for (int i = 0; i < BYTES; i++) {
            from[i] = (byte) (Math.sin(i) * 20);
        }
        Deflater deflater = new Deflater();
        new Truth()
            .phase("fill", round -> passes(a, round))
            .stores(1.0 * N * PASSES, 1, 0)
            .phase("compute", MostlyElsewhere::compute)
            .phase("compress", round -> compress(deflater, from, to, round))
            .run();
    }
}
