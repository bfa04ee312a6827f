/**
 * Listing 2 of the JXPerf paper: an array is summed by one loop and again by another, and tens of
 * milliseconds and many samples lie between the two loads of an element. Then all of it changes. The
 * first loop's loads are silent, the second's are not.
 */
final class LongDistance {
    private static final int N = 600_000;

    private LongDistance() {}

    /** Takes some time, and no memory. */
    static long mix(long x) {
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
        return x;
    }

    static long sum(long[] array, int from, int to) {
        long sum = 1;
        for (int i = from; i < to; i++) {
            sum = mix(sum + array[i]);
        }
        return sum;
    }

    /** In pieces, so that the loop is compiled as a whole. */
    static long loop(long[] array) {
        long sum = 0;
        for (int i = 0; i < N; i += 1000) {
            sum += sum(array, i, i + 1000);
        }
        return sum;
    }

    static long change(long[] array, long value) {
        for (int i = 0; i < N; i++) {
            array[i] = value + i;
        }
        return value;
    }

    public static void main(String[] args) {
        long[] array = new long[N];
        new Truth()
            .phase("loop i", round -> loop(array))
            .loads(N, 1)
            .phase("loop j", round -> loop(array))
            .loads(N, 0)
            .phase("change", round -> change(array, round))
            .stores(N, 0, 0)
            .run();
    }
}
