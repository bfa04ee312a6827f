/** Every pass over an array stores other values than the pass before: no store is silent. */
final class SilentStoreClean {
    private static final int ROUNDS = 256;

    private SilentStoreClean() {}

    static int rounds(int[] a, int value) {
        for (int r = 0; r < ROUNDS; r++) {
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
