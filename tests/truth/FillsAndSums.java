/**
 * A char array is filled nine times and summed after all but every third fill, in one method: a third of the stores is dead.
 * The sums, which store nothing, stand for no store.
 */
final class FillsAndSums {
    private static final int N = 4096;
    private static final int ROUNDS = 10;
    private static final int FILLS = 9;
    private static final int SUMMED = 6;

    private FillsAndSums() {}

    static long work(char[] a, int sums, long round) {
        long total = 0;
        int x = (int) round;
        for (int r = 0; r < ROUNDS; r++) {
            for (int f = 0; f < FILLS; f++) {
                for (int i = 0; i < N; i++) {
                    x = x * 5 + 1;
                    a[i] = (char) x;
                }
                if (f % 3 != 2) {
                    for (int s = 0; s < sums; s++) {
                        int sum = s;
                        for (int i = 0; i < N; i++) {
                            sum += a[i];
                        }
                        total ^= sum;
                    }
                }
            }
        }
        return total;
    }

    public static void main(String[] args) {
        char[] a = new char[N];
        new Truth()
            .mixes((times, round) -> work(a, times[1] / (SUMMED * ROUNDS), round),
                new int[] {FILLS * ROUNDS, SUMMED * ROUNDS}, new int[] {FILLS * ROUNDS, 3 * SUMMED * ROUNDS})
            .loop("fill")
            .stores(N, 1.0 / 3, Truth.UNKNOWN)
            .loop("sum")
            .loads(N, Truth.UNKNOWN)
            .run();
    }
}
