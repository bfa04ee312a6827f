/**
 * Arrays live for a while, so that collections move them, and are then replaced by new ones. Each is summed twice
 * between changes: the first of the two loads is silent, the second is not.
 */
final class Moving {
    private static final int N = 4096;
    private static final int PASSES = 200;
    private static final long[][] ARRAYS = new long[200][];

    private Moving() {}

    static long sum(long[] a) {
        long sum = 0;
        for (int i = 0; i < N; i++) {
            sum += a[i];
        }
        return sum;
    }

    static void change(long[] a, long value) {
        for (int i = 0; i < N; i++) {
            a[i] = value;
        }
    }

    static long passes(long[] a) {
        long sum = 0;
        for (int p = 0; p < PASSES; p++) {
            sum += sum(a);
            sum += sum(a);
            change(a, p + 1);
        }
        return sum;
    }

    static long garbage(long round) {
        for (int i = 0; i < 20; i++) {
            ARRAYS[(int) ((20 * round + i) % ARRAYS.length)] = new long[N];
        }
        return round;
    }

    public static void main(String[] args) {
        garbage(0);
        new Truth()
            .phase("sums and changes", round -> passes(ARRAYS[(int) (round * 7 % 20)]))
            .loads(2.0 * N * PASSES, 0.5)
            .phase("replace", Moving::garbage)
            .run();
    }
}
