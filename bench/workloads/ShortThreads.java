/** Eight threads at a time that live for about a millisecond each. */
final class ShortThreads {
    private static final int THREADS = 8;
    private static final int STEPS = 200_000;

    private static final int[] results = new int[THREADS];

    private ShortThreads() {}

    private static int work(int seed) {
        int x = seed;
        for (int i = 0; i < STEPS; i++) {
            x = x * 1_103_515_245 + 12_345 + results[i % THREADS];
        }
        return x;
    }

    private static int together(int value) {
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int which = i;
            threads[i] = new Thread(() -> results[which] = work(value + which));
            threads[i].start();
        }
        int sum = value;
        for (int i = 0; i < THREADS; i++) {
            try {
                threads[i].join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            sum += results[i];
        }
        return sum;
    }

    public static void main(String[] args) {
        Workload.repeat(args, ShortThreads::together);
    }
}
