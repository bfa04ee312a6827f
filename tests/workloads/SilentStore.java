/** An array of zeros is cleared again and again: every store is silent. */
final class SilentStore {
    private static final int ROUNDS = 256;

    private SilentStore() {}

    static int rounds(int[] a, int value) {
        for (int r = 0; r < ROUNDS; r++) {
            for (int i = 0; i < a.length; i++) {
                a[i] = 0;
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
