import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Some threads sum arrays for ever, all others wait for ever.
 *
 * Arguments: how many wait, how many work. Property late=FIFO: one more waits until that is opened, then works.
 * Property files=N: as many descriptors are kept open.
 */
final class ParkedThreads {
    private static final long STACK_BYTES = 128 << 10;

    private static final List<FileInputStream> files = new ArrayList<>();

    private ParkedThreads() {}

    private static void start(Runnable body, String name) {
        Thread thread = new Thread(null, body, name, STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
    }

    private static void work() {
        int[] a = Workload.array();
        int value = 1;
        while (true) {
            value = SilentLoad.rounds(a, value);
            Workload.sink = value;
        }
    }

    private static void workLate(String fifo) {
        try (FileInputStream opened = new FileInputStream(fifo)) {
            work();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void park(CountDownLatch started, CountDownLatch end) {
        started.countDown();
        try {
            end.await();
        } catch (InterruptedException e) {
            return;
        }
    }

    public static void main(String[] args) throws Exception {
        int parked = Integer.parseInt(args[0]);
        int busy = Integer.parseInt(args[1]);
        String late = System.getProperty("late");
        CountDownLatch started = new CountDownLatch(parked);
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < parked; i++) {
            start(() -> park(started, never), "parked-" + i);
        }
        started.await();
        for (int i = Integer.getInteger("files", 0); i > 0; i--) {
            files.add(new FileInputStream("/dev/null"));
        }
        for (int i = 1; i < busy; i++) {
            start(ParkedThreads::work, "busy-" + i);
        }
        if (late != null) {
            start(() -> workLate(late), "late");
        }
        SilentLoad.main(new String[0]);
    }
}
