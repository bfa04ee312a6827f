/**
 * Two threads, one of which makes arrays and hands some of them on: own ones (int[]) it sums alone,
 * handed ones (long[]) the other thread sums alone, and both sum and fill those that they have in
 * common (short[]).
 */
final class SharedArrays {
    private static final int BYTES = 65536;
    private static final int ROUNDS = 24;

    static volatile long[] handed = new long[BYTES / 8];
    static volatile short[] common = new short[BYTES / 2];
    static volatile long sink;

    private SharedArrays() {}

    static int[] makeOwn() {
        return new int[BYTES / 4];
    }

    static long[] makeHanded() {
        return new long[BYTES / 8];
    }

    static short[] makeCommon() {
        return new short[BYTES / 2];
    }

    static long sumOwn(int[] a) {
        long sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i];
        }
        return sum;
    }

    static long sumHanded(long[] a) {
        long sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i];
        }
        return sum;
    }

    static long addToCommon(short[] a, int value) {
        for (int i = 0; i < a.length; i++) {
            a[i] += value;
        }
        return a[value & 1023];
    }

    static void takeHanded() {
        for (int n = 0; ; n++) {
            sink += sumHanded(handed);
            addToCommon(common, n);
        }
    }

    public static void main(String[] args) {
        Thread other = new Thread(SharedArrays::takeHanded, "taker");

        other.setDaemon(true);
        other.start();
        Workload.repeat(args, value -> {
            int[] own = makeOwn();
            long sum = 0;

            handed = makeHanded();
            common = makeCommon();
            for (int r = 0; r < ROUNDS; r++) {
                sum += sumOwn(own);
                addToCommon(common, value + r);
            }
            return (int) sum + value + 1;
        });
    }
}
