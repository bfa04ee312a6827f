/**
 * One vectorised loop that multiplies an array in place: 30% of the elements are 0 and stay so (their loads and
 * stores are silent), the others are odd and never the same twice. Every store is loaded.
 */
final class Vectors {
    private static final int N = 16384;
    private static final int PASSES = 200;

    private Vectors() {}

    static void multiply(int[] a) {
        for (int i = 0; i < N; i++) {
            a[i] *= 3;
        }
    }

    static long passes(int[] a) {
        for (int p = 0; p < PASSES; p++) {
            multiply(a);
        }
        return a[0];
    }

    public static void main(String[] args) {
        int[][] arrays = new int[Truth.SETS][];
        for (int k = 0; k < arrays.length; k++) {
            arrays[k] = Truth.intMask(N, 0.3, k);
        }
        new Truth()
            .phase("multiply", round -> passes(arrays[Truth.turn(round)]))
            .stores(1.0 * N * PASSES, 0, 0.3)
            .loads(1.0 * N * PASSES, 0.3)
            .run();
    }
}
