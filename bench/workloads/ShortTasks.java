import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Four threads that get tasks of about fifty microseconds each; an operation is twenty tasks, which are waited for. */
final class ShortTasks {
    private static final int THREADS = 4;
    private static final int TASKS = 20;
    private static final int STEPS = 30_000;

    private static final ThreadLocal<int[]> cells = ThreadLocal.withInitial(() -> new int[Scatter.CELLS]);

    private ShortTasks() {}

    private static int together(ExecutorService workers, int value) {
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < TASKS; i++) {
            int seed = value + i;
            tasks.add(() -> Scatter.work(cells.get(), seed, STEPS));
        }
        int sum = value;
        try {
            for (Future<Integer> done : workers.invokeAll(tasks)) {
                sum += done.get();
            }
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
        return sum;
    }

    public static void main(String[] args) {
        ExecutorService workers = Executors.newFixedThreadPool(THREADS);
        Workload.repeat(args, value -> together(workers, value));
        workers.shutdown();
    }
}
