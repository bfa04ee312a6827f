/**
 * Two threads, one of which makes arrays, new ones every few times, and hands some of them on: to own
 * ones (int[]) it adds alone, handed ones (long[]) the other thread sums alone, and both add to those
 * that they have in common (short[]).
 */
final class SharedArrays {
    private static final int BYTES = 262144;
    private static final int ROUNDS = 12;
    private static final int TIMES = 2000;

    private static int[] own;
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

    static int addToOwn(int[] a, int value) {
        for (int i = 0; i < a.length; i++) {
            a[i] += value;
        }
        return a[value & 1023];
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
            if (value % TIMES == 1) {
                own = makeOwn();
                handed = makeHanded();
                common = makeCommon();
            }
            for (int r = 0; r < ROUNDS; r++) {
                sink += addToOwn(own, value + r) + addToCommon(common, value + r);
            }
            return value + 1;
        });
    }
}
