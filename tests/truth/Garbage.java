/**
 * A loop of which 30% of the stores are silent, between allocations that make several collections a second.
 * The memory of an object is not stored to again before a collection, so allocating adds no pairs.
 */
final class Garbage {
    private static final int BLOCK_BYTES = 1 << 20;
    private static final byte[][] BLOCKS = new byte[32][];

    private Garbage() {}

    static long allocate(long round) {
        for (int i = 0; i < 2; i++) {
            BLOCKS[(int) ((2 * round + i) % BLOCKS.length)] = new byte[BLOCK_BYTES];
        }
        return round;
    }

    public static void main(String[] args) {
        MaskedLongs work = new MaskedLongs(0.3);
        new Truth()
            .phase("work", work::passes)
            .stores(MaskedLongs.ACCESSES, 1, Truth.repeated(0.3, MaskedLongs.PASSES))
            .phase("allocate", Garbage::allocate)
            .run();
    }
}
