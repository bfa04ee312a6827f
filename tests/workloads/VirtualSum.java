import java.lang.reflect.Method;

/** Sums an unchanged array in virtual threads (JDK 21 and later; by reflection, so that 11 compiles it). */
final class VirtualSum {
    private static final int THREADS = 50;

    static volatile int sink;

    private VirtualSum() {}

    static int sum(int[] a) {
        int sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i];
        }
        return sum;
    }

    private static void sumForEver() {
        int[] a = new int[4096];
        while (true) {
            for (int i = 0; i < 200; i++) {
                sink = sum(a);
            }
            Thread.yield();
        }
    }

    public static void main(String[] args) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        for (int i = 0; i < THREADS; i++) {
            start.invoke(null, (Runnable) VirtualSum::sumForEver);
        }
        Thread.sleep(1000);
        System.out.println("up");
        Thread.sleep(Long.MAX_VALUE);
    }
}
