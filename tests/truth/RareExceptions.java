/**
 * Two fills: one throws and catches an exception now and then and stores something else there, and nobody loads it; the other is
 * loaded by a loop that stores nothing.
 */
final class RareExceptions {
    private static final int N = 4096;
    private static final int ROUNDS = 10;
    private static final int[][] MIXES = {{1, 1, 1}, {3, 1, 1}, {1, 1, 3}};

    private RareExceptions() {}

    private static final class Rare extends RuntimeException {
        private static final long serialVersionUID = 1;

        Rare() {
            super(null, null, false, false);
        }
    }

    private static final Rare RARE = new Rare();

    static int risky(int[] a, int value) {
        int x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            try {
                // Once in sixteen passes.
                if (x >>> 16 == 0) {
                    throw RARE;
                }
                a[i] = x;
            } catch (Rare e) {
                a[i] = -1;
            }
        }
        return x;
    }

    static void fill(int[] a, int value) {
        int x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
    }

    static int look(int[] a, int seed) {
        int x = seed;
        for (int i = 0; i < N; i++) {
            x = (x ^ a[i]) * 31;
        }
        return x;
    }

    static long work(int[] dead, int[] loaded, int[] times, long round) {
        int risks = times[0];
        int looks = times[2];
        int x = (int) round;
        for (int r = 0; r < ROUNDS; r++) {
            for (int k = 0; k < risks; k++) {
                x = risky(dead, x);
            }
            fill(loaded, x);
            for (int k = 0; k < looks; k++) {
                x = look(loaded, x);
            }
        }
        return x;
    }

    public static void main(String[] args) {
        int[] dead = new int[N];
        int[] loaded = new int[N];
        new Truth()
            .mixes((times, round) -> work(dead, loaded, times, round), MIXES)
            .loop("risky")
            .stores(1.0 * N * ROUNDS, 1, Truth.UNKNOWN)
            .loop("fill")
            .stores(1.0 * N * ROUNDS, 0, Truth.UNKNOWN)
            .loop("look")
            .loads(1.0 * N * ROUNDS, Truth.UNKNOWN)
            .run();
    }
}
