import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A steady thread that computes, and one that starts threads of 30 to 100 microseconds and waits for each. Prints now and
 * then the time by the monotonic clock, and the CPU time that the short ones had in serves() by then, both in ns.
 *
 * Argument: how many of them live at a time.
 */
final class ShortLived {
    private static final int SIZES = 8;
    private static final int STEPS = 2_000;
    private static final long WARM_UP_MS = 3000;
    private static final long PROGRESS_MS = 50;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final AtomicLong served = new AtomicLong();
    static volatile long sink;

    private ShortLived() {}

    private static long spin(long x, int times) {
        for (int i = 0; i < times; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    static void computes() {
        while (true) {
            sink = spin(sink, 100_000);
        }
    }

    /** Until then, or for long enough if it was kept from running. */
    static long serves(long x, long end) {
        while (System.nanoTime() < end) {
            x = spin(x, STEPS);
        }
        return x;
    }

    private static void live(int size) {
        long before = THREADS.getCurrentThreadCpuTime();
        sink = serves(before, System.nanoTime() + (size + 3) * 10_000L);
        served.addAndGet(THREADS.getCurrentThreadCpuTime() - before);
    }

    private static void starts(int together) {
        Thread[] threads = new Thread[together];
        for (int i = 0; true; i++) {
            int size = i % SIZES;
            for (int j = 0; j < together; j++) {
                threads[j] = new Thread(() -> live(size), "short");
                threads[j].start();
            }
            for (Thread thread : threads) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        int together = Integer.parseInt(args[0]);
        start("computes", ShortLived::computes);
        start("starts", () -> starts(together));
        Thread.sleep(WARM_UP_MS);
        System.out.println("up");
        while (true) {
            System.out.println("at " + System.nanoTime() + " served " + served.get());
            Thread.sleep(PROGRESS_MS);
        }
    }
}
