/** An array that never changes is summed again and again: every load is silent. */
final class SilentLoad {
    private static final int ROUNDS = 256;

    private SilentLoad() {}

    static int rounds(int[] a, int value) {
        for (int r = 0; r < ROUNDS; r++) {
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
