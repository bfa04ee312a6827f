/**
 * Phases that change with the thread's CPU time itself: a store is silent in the first half of every 5 ms, the
 * sampler's default period, and not in the second. A sampler that ticks in step would see one of the two only.
 */
final class InStep {
    private static final long CYCLE_NS = 5_000_000;
    private static final int N = 4096;

    private InStep() {}

    static void fill(long[] a, long value) {
        for (int i = 0; i < N; i++) {
            a[i] = value;
        }
    }

    /** Until the thread's CPU time has passed the next multiple of half a cycle. */
    static long until(long[] a, long part, long value, long step) {
        long next = (Truth.cpuNs() / CYCLE_NS) * CYCLE_NS + part;
        long now;
        do {
            for (int k = 0; k < 8; k++) {
                fill(a, value);
                value += step;
            }
            now = Truth.cpuNs();
        } while (now < next);
        return value;
    }

    public static void main(String[] args) {
        long[] a = new long[N];
        new Truth()
            .phase("same", round -> until(a, CYCLE_NS / 2, 1, 0))
            .stores(1, 1, 1)
            .phase("new", round -> until(a, CYCLE_NS, 2, 1))
            .stores(1, 1, 0)
            .run();
    }
}
