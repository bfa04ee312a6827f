/**
 * A loop with more constants than registers loads them from its stack frame, again and again: silent. The other phase
 * loads every element of an array once and changes it: not silent.
 */
final class Spills {
    private static final int N = 8192;
    private static final int ADD_PASSES = 60;
    private static final int SPIN = 20_000;

    private Spills() {}

    static long spin(long seed, int count) {
        long a = seed * 3, b = seed * 5, c = seed * 7, d = seed * 11, e = seed * 13, f = seed * 17, g = seed * 19;
        long h = seed * 23, i = seed * 29, j = seed * 31, k = seed * 37, l = seed * 41, m = seed * 43, n = seed * 47;
        long o = seed * 53, p = seed * 59, q = seed * 61, r = seed * 67, s = seed * 71, t = seed * 73, u = seed * 79;
        long x = 1;
        for (int step = 0; step < count; step++) {
            x = (x + a ^ x >>> 1) + b;
            x = (x ^ c) * 3 + d;
            x = (x + e ^ x >>> 2) + f;
            x = (x ^ g) * 3 + h;
            x = (x + i ^ x >>> 3) + j;
            x = (x ^ k) * 3 + l;
            x = (x + m ^ x >>> 4) + n;
            x = (x ^ o) * 3 + p;
            x = (x + q ^ x >>> 5) + r;
            x = (x ^ s) * 3 + t;
            x = x ^ u;
        }
        return x;
    }

    static long add(long[] a, long x) {
        for (int i = 0; i < N; i++) {
            x = x * 5 + a[i];
            a[i] = x;
        }
        return x;
    }

    static long adds(long[] a) {
        long x = 1;
        for (int p = 0; p < ADD_PASSES; p++) {
            x = add(a, x);
        }
        return x;
    }

    public static void main(String[] args) {
        long[] a = new long[N];
        new Truth()
            .phase("spin", round -> spin(round, SPIN))
            .loads(21.0 * SPIN, 1)
            .phase("add", round -> adds(a))
            .loads(1.0 * N * ADD_PASSES, 0)
            .run();
    }
}
