import java.util.function.IntUnaryOperator;

/** In the place of the one of tests/workloads: runs the operation some times, and prints what came of it. */
final class Workload {
    private static final int TIMES = 10;

    private Workload() {}

    static int[] array() {
        int[] a = new int[16384];
        for (int i = 0; i < a.length; i++) {
            a[i] = i;
        }
        return a;
    }

    static void repeat(String[] args, IntUnaryOperator operation) {
        int value = 1;
        for (int i = 0; i < TIMES; i++) {
            value = operation.applyAsInt(value);
            System.out.println("value " + value);
        }
        System.exit(0);
    }
}
