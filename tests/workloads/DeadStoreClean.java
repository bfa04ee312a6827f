/** An array is filled, then summed: no store is dead. */
final class DeadStoreClean {
    private static final int ROUNDS = 128;

    private DeadStoreClean() {}

    static int rounds(int[] a, int value) {
        for (int r = 0; r < ROUNDS; r++) {
            for (int i = 0; i < a.length; i++) {
                a[i] = value + i;
            }
            int sum = 0;
            for (int i = 0; i < a.length; i++) {
                sum += a[i];
            }
            value += sum | 1;
        }
        return value;
    }

    public static void main(String[] args) {
        int[] a = Workload.array();
        Workload.repeat(args, value -> rounds(a, value));
    }
}
