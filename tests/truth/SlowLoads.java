/**
 * A loop that makes a hundred times as many loads as another, which divides: by access nearly all loads are
 * silent, by time far fewer.
 */
final class SlowLoads {
    private static final int N = 8192;
    private static final int PASSES = 100;

    private SlowLoads() {}

    /** Each step depends on the one before: no vectors. */
    static long fast(long[] a) {
        long sum = 0;
        for (int i = 0; i < N; i++) {
            sum = sum * 31 + a[i];
        }
        return sum;
    }

    static long fastPasses(long[] a) {
        long sum = 0;
        for (int p = 0; p < PASSES; p++) {
            sum += fast(a);
        }
        return sum;
    }

    /** Divisions are slow, and there is nothing to load meanwhile. */
    static long slow(long[] a, long divisor) {
        long x = Long.MAX_VALUE;
        for (int i = 0; i < N; i++) {
            x = (x / divisor + a[i] | 1L << 62) / (divisor + 1) | 1L << 61;
            a[i] = x + i;
        }
        return x;
    }

    public static void main(String[] args) {
        long[] a = new long[N];
        long[] b = new long[N];
        new Truth()
            .phase("fast", round -> fastPasses(a))
            .loads(1.0 * N * PASSES, 1)
            .phase("slow", round -> slow(b, round + 3))
            .loads(N, 0)
            .run();
    }
}
