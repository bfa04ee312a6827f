/**
 * Counters are incremented, each by one instruction that loads and stores: what it loads is never what
 * it loaded before. They lie so far apart that no vector holds two.
 */
final class SilentLoadIncrement {
    private static final int ROUNDS = 1024;
    private static final int STRIDE = 16;

    private SilentLoadIncrement() {}

    static int rounds(int[] a, int value) {
        for (int r = 0; r < ROUNDS; r++) {
            for (int i = 0; i < a.length; i += STRIDE) {
                a[i] += 3;
            }
            value++;
        }
        return value;
    }

    public static void main(String[] args) {
        int[] a = Workload.array();
        Workload.repeat(args, value -> rounds(a, value));
    }
}
