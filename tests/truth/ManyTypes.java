/**
 * A loop calls a method of an interface that four classes implement in turn: each computes for as long and stores, and what
 * three of them store is never loaded. The loop itself stores its counter to its frame, once in eight calls.
 */
final class ManyTypes {
    private static final int CELLS = 64;
    private static final int PASSES = 60;

    private ManyTypes() {}

    interface Cell {
        long put(long x);
    }

    static final class First implements Cell {
        long value;

        @Override
        public long put(long x) {
            long y = Truth.slow(x);
            value = y;
            return y;
        }
    }

    static final class Second implements Cell {
        long value;

        @Override
        public long put(long x) {
            long y = Truth.slow(x + 1);
            value = y;
            return y;
        }
    }

    static final class Third implements Cell {
        long value;

        @Override
        public long put(long x) {
            long y = Truth.slow(x + 2);
            value = y;
            return y;
        }
    }

    /** What it stores is loaded at its next call. */
    static final class Fourth implements Cell {
        long value;

        @Override
        public long put(long x) {
            long y = Truth.slow(x + value);
            value = y;
            return y;
        }
    }

    static long passes(Cell[] cells, long round) {
        long x = round;
        for (int p = 0; p < PASSES; p++) {
            for (int i = 0; i < CELLS; i += 8) {
                x = cells[i].put(x);
                x = cells[i + 1].put(x);
                x = cells[i + 2].put(x);
                x = cells[i + 3].put(x);
                x = cells[i + 4].put(x);
                x = cells[i + 5].put(x);
                x = cells[i + 6].put(x);
                x = cells[i + 7].put(x);
            }
        }
        return x;
    }

    public static void main(String[] args) {
        Cell[] cells = new Cell[CELLS];
        for (int i = 0; i < CELLS; i += 4) {
            cells[i] = new First();
            cells[i + 1] = new Second();
            cells[i + 2] = new Third();
            cells[i + 3] = new Fourth();
        }
        new Truth()
            .phase("calls", round -> passes(cells, round))
            .stores(1.0 * CELLS * PASSES, 0.75, 0)
            .run();
    }
}
