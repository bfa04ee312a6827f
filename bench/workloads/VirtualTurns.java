import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;

/**
 * Virtual threads that do little but give their carrier away: they yield, or, with -Dqueues=true, hand numbers to one
 * another, each by a queue without room. For JDK 21 and later; compiled for older ones, which know no such executor.
 */
final class VirtualTurns {
    private static final int TASKS = 16;
    private static final int TURNS = 100;
    private static final boolean QUEUES = Boolean.getBoolean("queues");

    private static Executor executor;
    private static volatile int sum;

    private VirtualTurns() {}

    private static void yields(CountDownLatch done) {
        for (int i = 0; i < TURNS; i++) {
            Thread.yield();
        }
        done.countDown();
    }

    private static void puts(SynchronousQueue<Integer> queue, CountDownLatch done) {
        try {
            for (int i = 0; i < TURNS; i++) {
                queue.put(i);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        done.countDown();
    }

    private static void takes(SynchronousQueue<Integer> queue, CountDownLatch done) {
        int taken = 0;
        try {
            for (int i = 0; i < TURNS; i++) {
                taken += queue.take();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        sum = taken;
        done.countDown();
    }

    private static int together(int value) {
        CountDownLatch done = new CountDownLatch(TASKS);
        for (int i = 0; i < TASKS; i += 2) {
            SynchronousQueue<Integer> queue = new SynchronousQueue<>();
            executor.execute(() -> {
                if (QUEUES) {
                    puts(queue, done);
                } else {
                    yields(done);
                }
            });
            executor.execute(() -> {
                if (QUEUES) {
                    takes(queue, done);
                } else {
                    yields(done);
                }
            });
        }
        try {
            done.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return value + sum;
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        Method factory = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        executor = (ExecutorService) factory.invoke(null);
        Workload.repeat(args, VirtualTurns::together);
    }
}
