/**
 * Arrays of floats or doubles are filled again and again, each time with another value: one that
 * differs from the last by less than a percent (argument "near": every store is silent within the
 * tolerance of floating point) or by more ("far": none is). C2 stores them with vector moves that do
 * not say what they move.
 *
 * Arguments: float|double|int, near|far.
 */
final class FloatFill {
    private static final int ROUNDS = 256;
    private static final int ELEMENTS = 16384;

    private FloatFill() {}

    static int floats(float[] a, float step, int value) {
        float x = 1000f;
        for (int r = 0; r < ROUNDS; r++) {
            x = (r & 1) == 0 ? x + step : x - step;
            for (int i = 0; i < a.length; i++) {
                a[i] = x;
            }
        }
        return value + 1;
    }

    /** What is stored is computed from what was loaded. */
    static int doubles(double[] a, double[] b, double step, int value) {
        double x = 1000;
        for (int r = 0; r < ROUNDS; r++) {
            x = (r & 1) == 0 ? x + step : x - step;
            for (int i = 0; i < a.length; i++) {
                a[i] = b[i] + x;
            }
        }
        return value + 1;
    }

    /** The same bits as near floats, but of integers. */
    static int ints(int[] a, int step, int value) {
        int x = Float.floatToRawIntBits(1000f);
        for (int r = 0; r < ROUNDS; r++) {
            x = (r & 1) == 0 ? x + step : x - step;
            for (int i = 0; i < a.length; i++) {
                a[i] = x;
            }
        }
        return value + 1;
    }

    public static void main(String[] args) {
        boolean near = args[1].equals("near");
        String[] rest = new String[0];
        switch (args[0]) {
            case "float":
                float[] f = new float[ELEMENTS];
                Workload.repeat(rest, value -> floats(f, near ? 5f : 50f, value));
                break;
            case "double":
                double[] d = new double[ELEMENTS];
                double[] e = new double[ELEMENTS];
                Workload.repeat(rest, value -> doubles(d, e, near ? 5 : 50, value));
                break;
            default:
                int[] n = new int[ELEMENTS];
                Workload.repeat(rest, value -> ints(n, near ? 1000 : 50000, value));
        }
    }
}
