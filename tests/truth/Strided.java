/** A matrix is written column by column, 30% of the columns always with the same value; nobody loads it. */
final class Strided {
    private static final int COLUMNS = 500;
    private static final int ROWS = 400;

    private Strided() {}

    static void column(long[] matrix, int column, long value) {
        for (int row = 0; row < ROWS; row++) {
            matrix[row * COLUMNS + column] = value;
        }
    }

    static long columns(long[] matrix, boolean[] constant, long round) {
        for (int column = 0; column < COLUMNS; column++) {
            column(matrix, column, constant[column] ? 7 : round);
        }
        return round;
    }

    public static void main(String[] args) {
        long[] matrix = new long[ROWS * COLUMNS];
        boolean[] constant = Truth.marks(COLUMNS, 0.3, 0);
        new Truth()
            .phase("write", round -> columns(matrix, constant, round + 8))
            .stores(1.0 * ROWS * COLUMNS, 1, 0.3)
            .run();
    }
}
