import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;
import java.util.zip.Deflater;

/**
 * Parts of known shares of a thread's CPU time, in turns of some milliseconds each, held to by its own clock: half in
 * half(), a quarter in quarter(), a quarter in packed(), which calls the native code of java.util.zip.Deflater. How long
 * a turn is is drawn, since turns of one length come in step with the scheduler's tick, which is what brings samples:
 * shares were 3 to 6 points off then, more than samples that are independent of each other ever are. With the argument "deep" all of it is at the end of a recursion of 1,500 frames.
 */
final class TickShares {
    private static final int LONGEST_TURN_NS = 4_000_000;
    private static final int DEEP = 1500;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final byte[] BYTES = new byte[1 << 14];
    private static final byte[] PACKED = new byte[1 << 15];
    private static final Random RANDOM = new Random(1);
    private static final Deflater DEFLATER = new Deflater();

    static volatile long sink;

    private TickShares() {}

    private static long spin(long x) {
        for (int i = 0; i < 200_000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    static long half(long x) {
        return spin(x);
    }

    static long quarter(long x) {
        return spin(x ^ 1);
    }

    static long packed(long x) {
        BYTES[0] = (byte) x;
        DEFLATER.reset();
        DEFLATER.setInput(BYTES);
        DEFLATER.finish();
        return DEFLATER.deflate(PACKED);
    }

    private static long turn(int part, long x) {
        switch (part) {
            case 0:
                return half(x);
            case 1:
                return quarter(x);
            default:
                return packed(x);
        }
    }

    /** The part that has least of what it is to have is next. */
    static void run(long seconds) {
        long[] used = new long[3];
        long[] shares = {2, 1, 1};
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        long x = 1;
        while (System.nanoTime() < end) {
            int part = 0;
            for (int i = 1; i < 3; i++) {
                if (used[i] * shares[part] < used[part] * shares[i]) {
                    part = i;
                }
            }
            long turn = RANDOM.nextInt(LONGEST_TURN_NS);
            long before = THREADS.getCurrentThreadCpuTime();
            long after = before;
            while (after - before < turn) {
                x = turn(part, x);
                after = THREADS.getCurrentThreadCpuTime();
            }
            used[part] += after - before;
        }
        sink = x;
    }

    static void descend(int frames, long seconds) {
        if (frames > 0) {
            descend(frames - 1, seconds);
        } else {
            run(seconds);
        }
    }

    public static void main(String[] args) {
        RANDOM.nextBytes(BYTES);
        run(1);
        System.out.println("up");
        if (args.length > 0) {
            descend(DEEP, 3600);
        } else {
            run(3600);
        }
    }
}
