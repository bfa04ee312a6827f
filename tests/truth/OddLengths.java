/**
 * Many short arrays of odd length: the scalar loops before and after the vectorised one do much of the work. Stores to one half of
 * the arrays are silent in 60% of the elements, those to the other half never.
 */
final class OddLengths {
    private static final int LENGTH = 37;
    private static final int ROWS = 64;
    private static final int ROUNDS = 10;
    private static final int[][] MIXES = {{9, 3}, {3, 9}};

    private OddLengths() {}

    static void pass(int[][] arrays, int[] mask, int value) {
        for (int row = 0; row < ROWS; row++) {
            int[] a = arrays[row];
            for (int i = 0; i < a.length; i++) {
                a[i] = value & mask[i];
            }
        }
    }

    static long work(int[][][] arrays, int[] mask, int[] none, int[] times, long round) {
        int[][] some = arrays[0];
        int[][] never = arrays[1];
        int passes = times[0];
        int others = times[1];
        int value = (int) round * 12 * ROUNDS;
        for (int r = 0; r < ROUNDS; r++) {
            for (int k = 0; k < passes; k++) {
                pass(some, mask, ++value);
            }
            for (int k = 0; k < others; k++) {
                pass(never, none, ++value);
            }
        }
        return value;
    }

    public static void main(String[] args) {
        int[][] masks = new int[Truth.SETS][];
        for (int k = 0; k < masks.length; k++) {
            masks[k] = Truth.intMask(LENGTH + 1, 0.6, k);
        }
        int[] none = Truth.intMask(LENGTH + 1, 0, 0);
        int[][][] arrays = new int[2][ROWS][LENGTH];
        // All of the mask's pairs: its last element has no other in the arrays.
        double same = 0;
        for (int[] mask : masks) {
            for (int i = 0; i < LENGTH; i++) {
                same += mask[i] == 0 ? 1.0 / LENGTH / masks.length : 0;
            }
        }
        new Truth()
            .mixes((times, round) -> work(arrays, masks[Truth.turn(round / MIXES.length)], none, times, round), MIXES)
            .loop("some silent")
            .stores(1.0 * LENGTH * ROWS * ROUNDS, 1, Truth.repeated(same, 6 * ROUNDS))
            .loop("never silent")
            .stores(1.0 * LENGTH * ROWS * ROUNDS, 1, 0)
            .run();
    }
}
