/** An array is cleared, then filled, and never read: every store is dead. */
final class DeadStore {
    private static final int ROUNDS = 128;

    private DeadStore() {}

    static int rounds(int[] a, int value) {
        for (int r = 0; r < ROUNDS; r++) {
            for (int i = 0; i < a.length; i++) {
                a[i] = 0;
            }
            for (int i = 0; i < a.length; i++) {
                a[i] = value + i;
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
