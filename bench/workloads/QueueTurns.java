import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** A short queue between a thread that fills it and one that empties it; an operation is a hundred items. */
final class QueueTurns {
    private static final int CAPACITY = 4;
    private static final int ITEMS = 100;

    private static final BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(CAPACITY);
    private static volatile int sum;

    private QueueTurns() {}

    private static void empty() {
        try {
            while (true) {
                sum = sum + queue.take();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int fill(int value) {
        try {
            for (int i = 0; i < ITEMS; i++) {
                queue.put(i);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return value + sum;
    }

    public static void main(String[] args) {
        Thread consumer = new Thread(QueueTurns::empty);
        consumer.setDaemon(true);
        consumer.start();
        Workload.repeat(args, QueueTurns::fill);
    }
}
