/** Work of a known size for programs that are about something else: a few CPU cycles a step, with a load and a store. */
final class Scatter {
    /** A power of two. */
    static final int CELLS = 256;

    private Scatter() {}

    static int work(int[] cells, int seed, int steps) {
        int at = seed;
        for (int i = 0; i < steps; i++) {
            at = at * 1_103_515_245 + 12_345;
            cells[(at >>> 16) & (CELLS - 1)] += at;
        }
        return at + cells[seed & (CELLS - 1)];
    }
}
