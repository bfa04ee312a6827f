/**
 * An array of floats is summed, then each of its elements changes by less than a percent (argument
 * "near": all loads are silent within the tolerance of floating point) or by more ("far").
 */
final class FloatSum {
    private static final int ROUNDS = 128;
    private static final int ELEMENTS = 16384;

    private FloatSum() {}

    static int rounds(float[] a, float[] b, float factor, int value) {
        for (int r = 0; r < ROUNDS; r++) {
            for (int i = 0; i < a.length; i++) {
                b[i] = a[i] * 3f;
            }
            float f = (r & 1) == 0 ? factor : 1 / factor;
            for (int i = 0; i < a.length; i++) {
                a[i] = 1000f * f;
            }
        }
        return value + 1;
    }

    public static void main(String[] args) {
        float factor = args[0].equals("near") ? 1.002f : 1.05f;
        float[] a = new float[ELEMENTS];
        float[] b = new float[ELEMENTS];
        Workload.repeat(new String[0], value -> rounds(a, b, factor, value));
    }
}
