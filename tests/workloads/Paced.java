/** Works a fifth of the time, evenly: for what is to stay below a limit of its CPU time. */
final class Paced {
    private static final long WORK_NS = 2_000_000;
    private static final long REST_MS = 8;
    private static volatile int sink;

    private Paced() {}

    static int sum(int[] a) {
        int sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i];
        }
        return sum;
    }

    public static void main(String[] args) throws InterruptedException {
        int[] a = new int[4096];
        for (int i = 0; i < 20_000; i++) {
            sink = sum(a);
        }
        System.out.println("up");
        while (true) {
            long end = System.nanoTime() + WORK_NS;
            while (System.nanoTime() < end) {
                sink = sum(a);
            }
            Thread.sleep(REST_MS);
        }
    }
}
