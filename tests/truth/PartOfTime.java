/**
 * One phase only stores, all dead; one only loads, all silent; one does both, and nothing that it does is wasted. So half of
 * the checked accesses' time may be wasteful, and far less of all time.
 */
final class PartOfTime {
    private static final int N = 8192;
    private static final int STORES = 250;
    private static final int LOADS = 300;
    private static final int CHANGES = 60;

    private PartOfTime() {}

    static void store(long[] a, long value) {
        long x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
    }

    static long stores(long[] a, long round) {
        for (int p = 0; p < STORES; p++) {
            store(a, round * STORES + p);
        }
        return round;
    }

    static long load(long[] a, long seed) {
        long sum = seed;
        for (int i = 0; i < N; i++) {
            sum = sum * 31 + a[i];
        }
        return sum;
    }

    static long loads(long[] a, long round) {
        long sum = round;
        for (int p = 0; p < LOADS; p++) {
            sum = load(a, sum);
        }
        return sum;
    }

    static void change(long[] a, long add) {
        long x = add | 1;
        for (int i = 0; i < N; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
            a[i] += x;
        }
    }

    static long changes(long[] a, long round) {
        for (int p = 0; p < CHANGES; p++) {
            change(a, round * CHANGES + p);
        }
        return round;
    }

    public static void main(String[] args) {
        long[] stored = new long[N];
        long[] loaded = new long[N];
        long[] changed = new long[N];
        new Truth()
            .phase("store", round -> stores(stored, round))
            .stores(1.0 * N * STORES, 1, 0)
            .phase("load", round -> loads(loaded, round))
            .loads(1.0 * N * LOADS, 1)
            .phase("change", round -> changes(changed, round))
            .stores(1.0 * N * CHANGES, 0, 0)
            .loads(1.0 * N * CHANGES, 0)
            .run();
    }
}
