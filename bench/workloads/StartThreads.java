/**
 * Threads that live for about thirty microseconds of work; an operation is sixteen of them. Property: together=N has
 * so many live at a time (1).
 */
final class StartThreads {
    private static final int THREADS = 16;
    private static final int TOGETHER = Integer.getInteger("together", 1);
    private static final int STEPS = 18_000;

    private static final int[][] cells = new int[TOGETHER][Scatter.CELLS];
    private static final int[] results = new int[TOGETHER];

    private StartThreads() {}

    private static int together(int value) {
        Thread[] threads = new Thread[TOGETHER];
        for (int i = 0; i < TOGETHER; i++) {
            int which = i;
            threads[i] = new Thread(() -> results[which] = Scatter.work(cells[which], value + which, STEPS));
            threads[i].start();
        }
        int sum = value;
        for (int i = 0; i < TOGETHER; i++) {
            try {
                threads[i].join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            sum += results[i];
        }
        return sum;
    }

    private static int batches(int value) {
        int sum = value;
        for (int i = 0; i < THREADS; i += TOGETHER) {
            sum = together(sum);
        }
        return sum;
    }

    public static void main(String[] args) {
        Workload.repeat(args, StartThreads::batches);
    }
}
