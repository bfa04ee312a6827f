/**
 * Listing 6 of the DJXPerf paper, after its structure: an FFT whose inner loop strides through one large
 * array. The array is a new one for every transform; a small table of twiddle factors is beside it.
 */
final class StridedFft {
    private static final int LOG_N = 15;
    private static final int N = 1 << LOG_N;

    private StridedFft() {}

    private static double[] makeData(int seed) {
        double[] data = new double[2 * N];
        for (int i = 0; i < data.length; i++) {
            data[i] = (seed + i) & 255;
        }
        return data;
    }

    private static double[] makeFactors() {
        double[] factors = new double[2 * LOG_N];
        for (int bit = 0; bit < LOG_N; bit++) {
            double theta = Math.PI / (1 << bit);
            factors[2 * bit] = Math.cos(theta);
            factors[2 * bit + 1] = Math.sin(theta);
        }
        return factors;
    }

    static void transform(double[] data, double[] factors) {
        for (int bit = 0, dual = 1; bit < LOG_N; bit++, dual *= 2) {
            double real = 1;
            double imaginary = 0;
            for (int a = 0; a < dual; a++) {
                for (int b = 0; b < N; b += 2 * dual) {
                    int i = 2 * (b + a);
                    int j = 2 * (b + a + dual);
                    double z1 = data[j];
                    double z2 = data[j + 1];
                    double w1 = real * z1 - imaginary * z2;
                    double w2 = real * z2 + imaginary * z1;
                    data[j] = data[i] - w1;
                    data[j + 1] = data[i + 1] - w2;
                    data[i] += w1;
                    data[i + 1] += w2;
                }
                double next = real * factors[2 * bit] - imaginary * factors[2 * bit + 1];
                imaginary = imaginary * factors[2 * bit] + real * factors[2 * bit + 1];
                real = next;
            }
        }
    }

    public static void main(String[] args) {
        Workload.repeat(args, value -> {
            double[] data = makeData(value);
            transform(data, makeFactors());
            return value + (data[2] > 0 ? 1 : 2);
        });
    }
}
