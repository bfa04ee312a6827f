/**
 * A cache of small arrays that live long: a heap that is mostly live, with a steady turnover. Each
 * operation replaces and reads a number of them.
 */
final class ArrayCache {
    private static final int ENTRIES = 250_000;
    private static final int FIRST_LONGS = 128;
    private static final int REPLACED = 200;
    private static final int READ = 400;

    private static final long[][] cache = new long[ENTRIES][];

    private ArrayCache() {}

    private static long[] entry(int seed) {
        long[] a = new long[FIRST_LONGS + Math.floorMod(seed, FIRST_LONGS)];
        a[0] = seed;
        return a;
    }

    private static int use(int value) {
        int at = value;
        for (int i = 0; i < REPLACED; i++) {
            at = at * 1_103_515_245 + 12_345;
            cache[Math.floorMod(at, ENTRIES)] = entry(at);
        }
        long sum = 0;
        for (int i = 0; i < READ; i++) {
            at = at * 1_103_515_245 + 12_345;
            for (long x : cache[Math.floorMod(at, ENTRIES)]) {
                sum += x;
            }
        }
        return at + (int) sum;
    }

    public static void main(String[] args) {
        for (int i = 0; i < ENTRIES; i++) {
            cache[i] = entry(i);
        }
        Workload.repeat(args, ArrayCache::use);
    }
}
