/**
 * An array is written three times and then summed, slowly: the tens of milliseconds between two accesses to an
 * element are longer than many samples. Two of three stores are dead; one in three repeats a value.
 */
final class FarDead {
    private static final int N = 200_000;

    private FarDead() {}

    static long write(long[] array, int from, int to, long value) {
        long x = value | 1;
        for (int i = from; i < to; i++) {
            x = Truth.slow(x);
            array[i] = (x & 1) + value;
        }
        return x;
    }

    static long writeAll(long[] array, long value) {
        long sum = 0;
        for (int i = 0; i < N; i += 1000) {
            sum += write(array, i, i + 1000, value);
        }
        return sum;
    }

    static long sum(long[] array) {
        long sum = 0;
        for (int i = 0; i < N; i++) {
            sum += array[i];
        }
        return sum;
    }

    public static void main(String[] args) {
        long[] array = new long[N];
        new Truth()
            .phase("first", round -> writeAll(array, 4 * round))
            .stores(N, 1, 1)
            .phase("second", round -> writeAll(array, 4 * round))
            .stores(N, 1, 0)
            .phase("third", round -> writeAll(array, 4 * round + 2))
            .stores(N, 0, 0)
            .phase("sum", round -> sum(array))
            .run();
    }
}
