/**
 * One method that never returns, so that only its code for on-stack replacement runs: a fill that nobody loads, one that is
 * loaded, and the loop that loads it.
 */
final class NeverReturns {
    private static final int N = 2048;
    private static final int ROUNDS = 40;
    private static final int[][] MIXES = {{2, 1, 1}, {2, 1, 3}, {6, 1, 1}};

    private NeverReturns() {}

    static void work(Truth truth) {
        int[] dead = new int[N];
        int[] loaded = new int[N];
        int x = 1;
        while (true) {
            int[] times = truth.nextMix();
            int fills = times[0];
            int looks = times[2];
            for (int r = 0; r < ROUNDS; r++) {
                for (int k = 0; k < fills; k++) {
                    for (int i = 0; i < N; i++) {
                        x = x * 5 + 1;
                        dead[i] = x;
                    }
                }
                for (int i = 0; i < N; i++) {
                    x = x * 5 + 1;
                    loaded[i] = x;
                }
                for (int k = 0; k < looks; k++) {
                    for (int i = 0; i < N; i++) {
                        x = (x ^ loaded[i]) * 31;
                    }
                }
            }
            Truth.sink += x;
        }
    }

    public static void main(String[] args) {
        Truth truth = new Truth();
        truth.mixes((times, round) -> round, MIXES)
            .loop("dead")
            .stores(1.0 * N * ROUNDS, 1, Truth.UNKNOWN)
            .loop("loaded")
            .stores(1.0 * N * ROUNDS, 0, Truth.UNKNOWN)
            .loop("look")
            .loads(1.0 * N * ROUNDS, Truth.UNKNOWN);
        truth.runForever(() -> work(truth));
    }
}
