/**
 * Two arrays are filled, and one of them is searched to its end by a loop that may end early: its stores are never dead, and the
 * other array's are. The search stores nothing.
 */
final class Searches {
    private static final int N = 2048;
    private static final int ROUNDS = 40;
    private static final int[][] MIXES = {{1, 2, 2}, {3, 2, 2}, {1, 2, 6}};

    private Searches() {}

    static void fill(int[] a, int value) {
        int x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x | 1;
        }
    }

    /** What it looks for is even. */
    static int find(int[] a, int wanted) {
        for (int i = 0; i < a.length; i++) {
            if (a[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    static long work(int[] dead, int[] searched, int[] times, long round) {
        int fills = times[0];
        int others = times[1];
        int searches = times[2] / others;
        int x = (int) round;
        for (int r = 0; r < ROUNDS; r++) {
            for (int k = 0; k < fills; k++) {
                fill(dead, x + k);
            }
            for (int k = 0; k < others; k++) {
                fill(searched, x + k);
                for (int s = 0; s < searches; s++) {
                    x += find(searched, 2 * x);
                }
            }
        }
        return x;
    }

    public static void main(String[] args) {
        int[] dead = new int[N];
        int[] searched = new int[N];
        new Truth()
            .mixes((times, round) -> work(dead, searched, times, round), MIXES)
            .loop("dead")
            .stores(1.0 * N * ROUNDS, 1, Truth.UNKNOWN)
            .loop("searched")
            .stores(1.0 * N * ROUNDS, 0, Truth.UNKNOWN)
            .loop("search")
            .loads(1.0 * N * ROUNDS, Truth.UNKNOWN)
            .run();
    }
}
