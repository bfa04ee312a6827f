/**
 * Listings 1, 2 and 5 of the DJXPerf paper: an array that is reallocated in a loop as it grows and is the
 * hottest data of the program, beside an object that is allocated as often and hardly used.
 *
 * Prints "allocated GROWN COLLECTORS" every 100 ms, how many of each there were since the start.
 */
final class MemoryBloat {
    private static final int FIRST_CAPACITY = 2048;
    private static final int VALUES = 65_536;
    private static final int PASSES = 40;

    private float[] values;
    private Collector last; // Others could see it, so that the compiler has to allocate it.
    private long grown;
    private long collectors;

    private MemoryBloat() {}

    /** Used once in its life. */
    private static final class Collector {
        final long[] top = new long[4096];

        long collect(long hit) {
            top[0] = hit;
            return top[0];
        }
    }

    private void makeRoom(int wanted) {
        if (wanted > values.length) {
            float[] larger = new float[values.length * 2];
            System.arraycopy(values, 0, larger, 0, values.length);
            values = larger;
            grown++;
        }
    }

    private void append(int count) {
        for (int i = 0; i < count; i++) {
            makeRoom(i + 1);
            values[i] = i;
        }
    }

    private float use(int count) {
        float sum = 0;
        for (int pass = 0; pass < PASSES; pass++) {
            for (int i = 0; i < count; i++) {
                sum += values[i];
                values[i] = sum;
            }
        }
        return sum;
    }

    /** One path: grows five times, collects five times. */
    private int iteration(int value) {
        values = new float[FIRST_CAPACITY];
        append(VALUES);
        long hits = 0;
        for (int i = 0; i < 5; i++) {
            last = new Collector();
            hits += last.collect(value + i);
            collectors++;
        }
        return value + (int) hits + (use(VALUES) > 1 ? 1 : 2);
    }

    public static void main(String[] args) {
        MemoryBloat program = new MemoryBloat();
        long[] next = {System.nanoTime()};
        Workload.repeat(args, value -> {
            int result = program.iteration(value);
            if (System.nanoTime() > next[0]) {
                next[0] += 100_000_000L;
                System.out.println("allocated " + program.grown + " " + program.collectors);
            }
            return result;
        });
    }
}
