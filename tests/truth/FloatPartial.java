/**
 * A float array is summed, and between two sums the first 70% of it is overwritten: the loads of the
 * other 30% are silent. Every store is loaded and brings a new value.
 */
final class FloatPartial {
    private static final int N = 4000;
    private static final int CHANGED = N * 7 / 10;
    private static final int PASSES = 200;

    private FloatPartial() {}

    static void change(float[] a, float value) {
        for (int i = 0; i < CHANGED; i++) {
            a[i] = value;
        }
    }

    static float sum(float[] a) {
        float sum = 0;
        for (int i = 0; i < N; i++) {
            sum += a[i];
        }
        return sum;
    }

    static long passes(float[] a) {
        float sum = 0;
        for (int p = 0; p < PASSES; p++) {
            change(a, 1 + (p & 3));
            sum += sum(a);
        }
        return (long) sum;
    }

    public static void main(String[] args) {
        float[] a = new float[N];
        new Truth()
            .phase("change and sum", round -> passes(a))
            .stores(1.0 * CHANGED * PASSES, 0, 0)
            .loads(1.0 * N * PASSES, 0.3)
            .run();
    }
}
