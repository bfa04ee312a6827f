/** An array is filled with one value after the other, of which 3 in 10 are those of the fill before: the fill stub. */
final class Fills {
    private static final int N = 16384;
    private static final int[] VALUES = {0, 0, 1, 1, 2, 2, 3, 4, 5, 6};
    private static final int PASSES = 50;

    private Fills() {}

    static long passes(int[] a, int[] values, long round) {
        for (int p = 0; p < PASSES; p++) {
            for (int value : values) {
                java.util.Arrays.fill(a, value);
            }
        }
        return round;
    }

    public static void main(String[] args) {
        int[] a = new int[N];
        int[] values = VALUES;
        new Truth()
            .phase("fill", round -> passes(a, values, round))
            .stores(1.0 * N * values.length * PASSES, 1, 0.3)
            .run();
    }
}
