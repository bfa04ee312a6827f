import java.util.function.IntUnaryOperator;

/** What the programs share. A result goes into the next operation, or into a field: else the compiler leaves its loop away. */
final class Program {
    /** By then, of what repeat prints "up" after, all is compiled, too. */
    private static final long WARM_NS = 700_000_000L;
    private static final long UP_MS = 1500;

    private static final long START_NS = System.nanoTime();

    static volatile Object sink;

    private Program() {}

    /** The operation takes some hundred microseconds, and gets what the last one gave. */
    static void repeat(IntUnaryOperator operation) {
        Workload.repeat(new String[0], operation);
    }

    /** So long that what ran is compiled: a program with another behaviour behind its warm-up has it from now on. */
    static boolean warm() {
        return System.nanoTime() - START_NS > WARM_NS;
    }

    /** Seconds since the program began. */
    static double seconds() {
        return (System.nanoTime() - START_NS) * 1e-9;
    }

    /** Prints "up" beside a loop that cannot. */
    static void sayUp() {
        Thread teller = new Thread(() -> {
            try {
                Thread.sleep(UP_MS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            System.out.println("up");
        });
        teller.setDaemon(true);
        teller.start();
    }
}
