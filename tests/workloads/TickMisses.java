import java.util.Random;

/**
 * Nearly all of its CPU time is one load that misses the caches, in a method that is inlined into a loop, where the JVM knows
 * no place of it: what is called in the loop besides is some arithmetic, and a load of what is always there.
 */
final class TickMisses {
    private static final int WORDS = 1 << 24;
    private static final int TURNS = 100_000;

    static volatile int sink;

    private TickMisses() {}

    /** A walk through all words, by chance. */
    private static int[] cycle() {
        int[] order = new int[WORDS], next = new int[WORDS];
        Random random = new Random(1);
        for (int i = 0; i < WORDS; i++) {
            order[i] = i;
        }
        for (int i = WORDS - 1; i > 0; i--) {
            int other = random.nextInt(i + 1), word = order[i];
            order[i] = order[other];
            order[other] = word;
        }
        for (int i = 0; i < WORDS; i++) {
            next[order[i]] = order[(i + 1) & (WORDS - 1)];
        }
        return next;
    }

    static int missing(int[] next, int at) {
        return next[at];
    }

    static int mixed(int sum, int at) {
        return sum * 31 + (at ^ at >>> 7);
    }

    static int walk(int[] next, int[] sums, int at) {
        for (int i = 0; i < TURNS; i++) {
            at = missing(next, at);
            sums[i & 7] = mixed(sums[i & 7], at);
        }
        return at;
    }

    public static void main(String[] args) {
        int[] next = cycle(), sums = new int[8];
        int at = 0;
        System.out.println("up");
        while (true) {
            at = walk(next, sums, at);
            sink = sums[at & 7];
        }
    }
}
