import java.util.concurrent.CountDownLatch;

/** Threads that never wait, more than there are processors. Argument: how many. */
final class BusyThreads {
    private BusyThreads() {}

    private static int turn(int value) {
        for (int i = 0; i < 100_000; i++) {
            value = value * 31 + i;
        }
        return value;
    }

    public static void main(String[] args) throws InterruptedException {
        int count = Integer.parseInt(args[0]);
        CountDownLatch started = new CountDownLatch(1);
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> {
                int value = 1;
                try {
                    started.await();
                } catch (InterruptedException e) {
                    return;
                }
                while (true) {
                    value = turn(value);
                    Workload.sink = value;
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        // Each start waits for the new thread's turn, which is long when the others work already.
        System.out.println("up");
        started.countDown();
        Thread.sleep(Long.MAX_VALUE);
    }
}
