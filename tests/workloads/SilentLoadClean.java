/** Every pass over an array loads each element once and changes it: no load is silent. */
final class SilentLoadClean {
    private static final int ROUNDS = 128;

    private SilentLoadClean() {}

    static int rounds(int[] a, int value) {
        for (int r = 0; r < ROUNDS; r++) {
            for (int i = 0; i < a.length; i++) {
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
