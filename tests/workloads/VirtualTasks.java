import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Short tasks on virtual threads, each of which waits once. For JDK 21 and later; compiled for older
 * ones, which know no such executor.
 */
final class VirtualTasks {
    private static final int TASKS = 200;
    private static final int STEPS = 2_000;

    private static final int[] results = new int[TASKS];
    private static Executor executor;

    private VirtualTasks() {}

    private static int work(int seed) {
        int x = seed;
        for (int i = 0; i < STEPS; i++) {
            x = x * 1_103_515_245 + 12_345 + results[i % TASKS];
        }
        return x;
    }

    private static int together(int value) {
        CountDownLatch done = new CountDownLatch(TASKS);
        for (int i = 0; i < TASKS; i++) {
            int which = i;
            executor.execute(() -> {
                results[which] = work(value + which);
                Thread.yield();
                results[which] += work(which);
                done.countDown();
            });
        }
        try {
            done.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return value + results[value & 127];
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        Method factory = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        executor = (ExecutorService) factory.invoke(null);
        Workload.repeat(args, VirtualTasks::together);
    }
}
