import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;

/**
 * Three allocation sites whose objects take known parts of the CPU time: about 60, 30 and 10 percent.
 *
 * Each site has a table of arrays; one at a time, chosen at random, is replaced, so many objects survive
 * some collections and then die, beside others that live on. Arrays are large, so that most are sampled and
 * the result hardly depends on which. The true shares are measured: every 100 ms "cpu A B C" is printed, the
 * main thread's CPU time in nanoseconds that it worked on the objects of each. "up" is printed before.
 *
 * Arguments: seconds to run (default: for ever).
 */
final class ObjectShares {
    private static final int ARRAYS = 8;
    private static final int ELEMENTS = 300_000;
    private static final int[] ROUNDS = {36, 18, 6};
    private static final long PROGRESS_NS = 100_000_000L;
    private static final long WARM_UP_NS = 1_000_000_000L;

    private static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    static volatile int sink;

    private ObjectShares() {}

    static int[] allocateMost() {
        return new int[ELEMENTS];
    }

    static int[] allocateSome() {
        return new int[ELEMENTS];
    }

    static int[] allocateLittle() {
        return new int[ELEMENTS];
    }

    private static int[] allocate(int site) {
        switch (site) {
            case 0:
                return allocateMost();
            case 1:
                return allocateSome();
            default:
                return allocateLittle();
        }
    }

    /** The same work for all: loads and stores of every element. */
    static int work(int[] a, int rounds, int value) {
        for (int r = 0; r < rounds; r++) {
            for (int i = 0; i < a.length; i++) {
                value += a[i];
                a[i] = value;
            }
        }
        return value;
    }

    public static void main(String[] args) {
        long seconds = args.length > 0 ? Long.parseLong(args[0]) : Long.MAX_VALUE / 1_000_000_000L;
        int[][][] tables = new int[ROUNDS.length][ARRAYS][];
        long[] cpu = new long[ROUNDS.length];
        long start = System.nanoTime();
        long next = WARM_UP_NS;
        boolean up = false;
        int value = 1;
        Random random = new Random(1);

        for (int[][] table : tables) {
            for (int i = 0; i < ARRAYS; i++) {
                table[i] = new int[ELEMENTS];
            }
        }
        while (true) {
            int n = random.nextInt(ARRAYS);
            for (int site = 0; site < ROUNDS.length; site++) {
                tables[site][n] = allocate(site);
            }
            long before = threads.getCurrentThreadCpuTime();
            for (int site = 0; site < ROUNDS.length; site++) {
                for (int i = 0; i < 3; i++) {
                    value = work(tables[site][(n + 3 * i) % ARRAYS], ROUNDS[site] / 3, value);
                }
                long now = threads.getCurrentThreadCpuTime();
                cpu[site] += now - before;
                before = now;
            }
            long elapsed = System.nanoTime() - start;
            if (elapsed < next) {
                continue;
            }
            next = elapsed + PROGRESS_NS;
            if (!up) {
                System.out.println("up");
                up = true;
            }
            System.out.println("cpu " + cpu[0] + " " + cpu[1] + " " + cpu[2]);
            if (elapsed / 1_000_000_000L >= seconds) {
                break;
            }
        }
        sink = value;
    }
}
