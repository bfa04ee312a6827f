import java.util.zip.Deflater;

/**
 * Stores of which 60% are silent, but in the lesser part of the time: the rest goes to a loop that touches no memory, and to
 * native code. Most of what is checked is wasteful, and a small share of the CPU time.
 */
final class MostlyElsewhere {
    private static final int FILLS = 4;
    private static final int STEPS = 400_000;
    private static final int BYTES = 128 * 1024;

    private MostlyElsewhere() {}

    static long fill(MaskedLongs work, long round) {
        long sum = 0;
        for (int i = 0; i < FILLS; i++) {
            sum += work.passes(round * FILLS + i);
        }
        return sum;
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
        MaskedLongs work = new MaskedLongs(0.6);
        byte[] from = new byte[BYTES];
        byte[] to = new byte[2 * BYTES];
        for (int i = 0; i < BYTES; i++) {
            from[i] = (byte) (Math.sin(i) * 20);
        }
        Deflater deflater = new Deflater();
        new Truth()
            .phase("fill", round -> fill(work, round))
            .stores(FILLS * MaskedLongs.ACCESSES, 1, Truth.repeated(0.6, MaskedLongs.PASSES))
            .phase("compute", MostlyElsewhere::compute)
            .phase("compress", round -> compress(deflater, from, to, round))
            .run();
    }
}
