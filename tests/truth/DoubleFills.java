import java.util.Arrays;

/**
 * A double array is filled with one value after the other; three times in four it is within 1% of the one before, which counts
 * as the same. The stub that fills moves integers as well.
 */
final class DoubleFills {
    private static final int N = 16384;
    private static final double[] VALUES = {100, 100.4, 100.8, 101.2, 200, 200.8, 201.6, 202.4};
    private static final int PASSES = 50;

    private DoubleFills() {}

    static long passes(double[] a, double[] values, long round) {
        for (int p = 0; p < PASSES; p++) {
            for (double value : values) {
                Arrays.fill(a, value);
            }
        }
        return round;
    }

    public static void main(String[] args) {
        double[] a = new double[N];
        double[] values = VALUES;
        new Truth()
            .phase("fill", round -> passes(a, values, round))
            .stores(1.0 * N * values.length * PASSES, 1, 0.75)
            .run();
    }
}
