import java.util.concurrent.CountDownLatch;

/**
 * Threads that wait. Says again and again how many threads Java knows of: "live N".
 *
 * Arguments: how many wait.
 */
final class LiveThreads {
    private static final int INTERVAL_MS = 50;

    private LiveThreads() {}

    private static void await(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            return;
        }
    }

    private static void startAll(int count, CountDownLatch end) {
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> await(end));
            thread.setDaemon(true);
            thread.start();
        }
    }

    public static void main(String[] args) throws Exception {
        startAll(Integer.parseInt(args[0]), new CountDownLatch(1));
        System.out.println("up");
        while (true) {
            System.out.println("live " + Thread.getAllStackTraces().size());
            Thread.sleep(INTERVAL_MS);
        }
    }
}
