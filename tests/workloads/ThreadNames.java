import java.lang.reflect.Method;
import java.util.concurrent.locks.LockSupport;

/**
 * Two threads, one of them virtual, print a virtual thread that parks and goes on all the time (JDK 21
 * and later; by reflection, so that 11 compiles it): they allocate while they hold its lock. Prints
 * "strings N M", how many each has made, every 100 ms.
 */
final class ThreadNames {
    private static final long WARM_UP_MS = 1000;
    private static final long PROGRESS_MS = 100;

    static volatile String sink;

    private static volatile long ofPlatform;
    private static volatile long ofVirtual;

    private ThreadNames() {}

    private static Thread startVirtual(Runnable body) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        return (Thread) start.invoke(null, body);
    }

    private static void park() {
        while (true) {
            LockSupport.parkNanos(1);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread parked = startVirtual(ThreadNames::park);
        Thread platform = new Thread(() -> {
            while (true) {
                sink = parked.toString();
                ofPlatform++;
            }
        });
        platform.start();
        startVirtual(() -> {
            while (true) {
                sink = parked.toString();
                ofVirtual++;
            }
        });
        Thread.sleep(WARM_UP_MS);
        System.out.println("up");
        while (true) {
            System.out.println("strings " + ofPlatform + " " + ofVirtual);
            Thread.sleep(PROGRESS_MS);
        }
    }
}
