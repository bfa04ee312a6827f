/**
 * An array is filled with pseudo-random numbers, then summed: no store is dead. The numbers depend on
 * each other, so that nearly all the time is spent in the loop that stores.
 */
final class DeadStoreClean {
    private static final int ROUNDS = 16;

    private DeadStoreClean() {}

    static int rounds(int[] a, int value) {
        for (int r = 0; r < ROUNDS; r++) {
            for (int i = 0; i < a.length; i++) {
                value = value * 1664525 + 1013904223;
                a[i] = value;
            }
            int sum = 0;
            for (int i = 0; i < a.length; i++) {
                sum += a[i];
            }
            value += sum;
        }
        return value;
    }

    public static void main(String[] args) {
        int[] a = Workload.array();
        Workload.repeat(args, value -> rounds(a, value));
    }
}
