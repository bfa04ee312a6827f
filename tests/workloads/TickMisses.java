import java.util.Random;

/**
 * Nearly all of its CPU time is one load that misses the caches, in a method that is inlined into a loop, where the JVM knows
 * no place of it. What is called in the loop besides is some arithmetic.
 */
final class TickMisses {
    private static final int WORDS = 1 << 24;
    private static final int TURNS = 100_000;

    static volatile int sink;

    private TickMisses() {}

    /** A walk through all words, by chance (Sattolo's algorithm). */
    private static int[] cycle() {
        int[] next = new int[WORDS];
        Random random = new Random(1);
        for (int i = 0; i < WORDS; i++) {
            next[i] = i;
        }
        for (int i = WORDS - 1; i > 0; i--) {
            int other = random.nextInt(i), word = next[i];
            next[i] = next[other];
            next[other] = word;
        }
        return next;
    }

    static int missing(int[] next, int at) {
        return next[at];
    }

    static int mixed(int sum, int at) {
        return sum * 31 + (at ^ at >>> 7);
    }

    static int walk(int[] next, int at) {
        int sum = 0;
        for (int i = 0; i < TURNS; i++) {
            at = missing(next, at);
            sum = mixed(sum, at);
        }
        sink = sum;
        return at;
    }

    public static void main(String[] args) {
        int[] next = cycle();
        int at = 0;
        System.out.println("up");
        while (true) {
            at = walk(next, at);
        }
    }
}
