/**
 * Arrays are filled with constants, for which C2 of some releases calls a stub: sixty fills of one that nobody sums, and six of
 * another, each of which is followed by a sum. Both are filled by one method, so that their stores are of one width, and what loads them is of that width, too.
 */
final class ConstantFills {
    private static final int N = 4096;
    private static final int ROUNDS = 10;
    private static final int DEAD = 60;
    private static final int SUMMED = 6;
    private static final int FILLS = DEAD + SUMMED;

    private ConstantFills() {}

    /** Not inlined. */
    static void fill(long[] a, int value) {
        for (int i = 0; i < N; i++) {
            a[i] = value;
        }
    }

    static long work(long[] dead, long[] summed, int sums, long round) {
        long total = 0;
        int value = (int) round * ROUNDS * FILLS;
        for (int r = 0; r < ROUNDS; r++) {
            for (int f = 0; f < DEAD; f++) {
                fill(dead, ++value);
            }
            for (int f = 0; f < SUMMED; f++) {
                fill(summed, ++value);
                for (int s = 0; s < sums; s++) {
                    long sum = s;
                    for (int i = 0; i < N; i++) {
                        sum += summed[i];
                    }
                    total ^= sum;
                }
            }
        }
        return total;
    }

    public static void main(String[] args) {
        long[] dead = new long[N];
        long[] summed = new long[N];
        new Truth()
            .mixes((times, round) -> work(dead, summed, times[1] / (SUMMED * ROUNDS), round),
                new int[] {FILLS * ROUNDS, SUMMED * ROUNDS}, new int[] {FILLS * ROUNDS, 3 * SUMMED * ROUNDS})
            .loop("fill")
            .stores(N, 1.0 * DEAD / FILLS, 0)
            .loop("sum")
            .loads(N, Truth.UNKNOWN)
            .run();
    }
}
