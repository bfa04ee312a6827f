/**
 * Sums an array that is as old as the program, and now and then makes a small one that is dropped: what has been up for a week
 * reads mostly what it allocated long ago.
 */
final class OldArray {
    private static final int ELEMENTS = 64 * 1024;
    private static final int SUMS = 4;
    private static final int SMALL = 8000;

    private static final long[] OLD = new long[ELEMENTS];

    private static volatile int[] dropped;

    private OldArray() {}

    /** Each step depends on the one before. */
    static long sum(long[] a) {
        long sum = 1;
        for (int i = 0; i < a.length; i++) {
            sum = sum * 31 + a[i];
        }
        return sum;
    }

    static int[] makeSmall(int value) {
        int[] a = new int[SMALL];
        for (int i = 0; i < a.length; i++) {
            a[i] = value + i;
        }
        return a;
    }

    private static int round(int value) {
        long sum = 0;
        for (int i = 0; i < SUMS; i++) {
            sum += sum(OLD);
        }
        dropped = makeSmall(value);
        return (int) sum + dropped[SMALL - 1];
    }

    public static void main(String[] args) {
        for (int i = 0; i < ELEMENTS; i++) {
            OLD[i] = i;
        }
        Workload.repeat(args, OldArray::round);
    }
}
