import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Steady programs that use CPU time in ways which are hard on a profiler. Arguments: which, and its own:
 *   reads FILE    70% of a thread's time in reads of a file that is cached, 30% in a loop; held to by its own clock
 *   ring          a thread that computes, and twenty that hand on the right to work for 50 microseconds
 *   faults FILE   70% of a thread's time in the first touches of pages, and in giving them back, 30% in a loop
 *   sockets       a thread that writes to another that reads
 *   computes      a thread that computes
 *   in-step PERIOD_NS PHASE_NS    a thread that computes, and one that wakes at times that are PHASE_NS modulo
 *                 PERIOD_NS by the monotonic clock, and works for a quarter of that
 */
final class CpuShares {
    private static final int LONGEST_TURN_NS = 22_000_000;
    private static final int READ_BYTES = 64 << 10;
    /** So many that looking at the clock in between weighs nothing. */
    private static final int READS = 32;
    private static final int FILE_BYTES = 4 << 20;
    private static final int MAPPED_BYTES = 16 << 20;
    private static final int PAGE_BYTES = 4096;
    private static final int RING = 20;
    private static final long HANDED_NS = 50_000L;
    /** Tenths of the thread's time. */
    private static final int KERNEL_SHARE = 7;
    private static final int LOOP_SHARE = 3;
    private static final long WARM_UP_MS = 2000;

    /** Turns of one length come in step with the scheduler's tick, which is what brings samples. */
    private static final Random TURNS = new Random(1);

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static volatile long sink;

    private CpuShares() {}

    private interface Work {
        void run() throws IOException;
    }

    private static void start(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                System.out.println("failed: " + name + ": " + e);
                Runtime.getRuntime().halt(1);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static long spin(long x, int times) {
        for (int i = 0; i < times; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    static void computes() {
        long x = 1;
        while (true) {
            x = spin(x, 100_000);
            sink = x;
        }
    }

    // ---------------------------------------------------------------- of one thread, in turns

    static void loops() {
        sink = spin(sink, 200_000);
    }

    /** The part that has least of what it is to have is next. */
    private static void turns(Work kernel) throws IOException {
        long inKernel = 0;
        long inLoop = 0;
        while (true) {
            boolean loop = inLoop * KERNEL_SHARE < inKernel * LOOP_SHARE;
            long turn = TURNS.nextInt(LONGEST_TURN_NS);
            long before = THREADS.getCurrentThreadCpuTime();
            long after = before;
            while (after - before < turn) {
                if (loop) {
                    loops();
                } else {
                    kernel.run();
                }
                after = THREADS.getCurrentThreadCpuTime();
            }
            if (loop) {
                inLoop += after - before;
            } else {
                inKernel += after - before;
            }
        }
    }

    static void reads(FileChannel file, ByteBuffer into) throws IOException {
        for (int i = 0; i < READS; i++) {
            into.clear();
            if (file.read(into) < READ_BYTES) {
                file.position(0);
            }
        }
    }

    private static void startReads(String path) throws IOException {
        RandomAccessFile opened = new RandomAccessFile(path, "rw");
        opened.write(new byte[FILE_BYTES]);
        FileChannel file = opened.getChannel();
        ByteBuffer into = ByteBuffer.allocateDirect(READ_BYTES);
        start("reads", () -> turns(() -> reads(file, into)));
    }

    /** Pages of a file that is made empty, then long again, are to be had anew. */
    static void touches(RandomAccessFile file, MappedByteBuffer pages) throws IOException {
        file.setLength(0);
        file.setLength(MAPPED_BYTES);
        for (int i = 0; i < MAPPED_BYTES; i += PAGE_BYTES) {
            pages.put(i, (byte) 1);
        }
    }

    private static void startFaults(String path) throws IOException {
        RandomAccessFile file = new RandomAccessFile(path, "rw");
        file.setLength(MAPPED_BYTES);
        MappedByteBuffer pages = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, MAPPED_BYTES);
        start("faults", () -> turns(() -> touches(file, pages)));
    }

    // ---------------------------------------------------------------- of several threads

    static void worksFor(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            sink = spin(sink, 100);
        }
    }

    static void handsOn(Thread[] ring, AtomicInteger turn, int self) {
        int next = (self + 1) % RING;
        while (true) {
            while (turn.get() != self) {
                LockSupport.park();
            }
            worksFor(HANDED_NS);
            turn.set(next);
            LockSupport.unpark(ring[next]);
        }
    }

    private static void startRing() {
        Thread[] ring = new Thread[RING];
        AtomicInteger turn = new AtomicInteger();
        for (int i = 0; i < RING; i++) {
            int self = i;
            ring[i] = new Thread(() -> handsOn(ring, turn, self), "ring-" + i);
            ring[i].setDaemon(true);
        }
        for (Thread thread : ring) {
            thread.start();
        }
        start("computes", CpuShares::computes);
    }

    static void writes(WritableByteChannel to) throws IOException {
        ByteBuffer block = ByteBuffer.allocateDirect(READ_BYTES);
        while (true) {
            block.clear();
            to.write(block);
        }
    }

    static void receives(SocketChannel from) throws IOException {
        ByteBuffer block = ByteBuffer.allocateDirect(READ_BYTES);
        while (from.read(block) >= 0) {
            block.clear();
        }
    }

    private static void startSockets() throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        SocketChannel to = SocketChannel.open(server.getLocalAddress());
        SocketChannel from = server.accept();
        start("writes", () -> writes(to));
        start("receives", () -> receives(from));
    }

    static void inStep(long periodNs, long phaseNs) {
        long next = System.nanoTime() / periodNs * periodNs + phaseNs;
        while (true) {
            long now = System.nanoTime();
            if (now < next) {
                LockSupport.parkNanos(next - now);
                continue;
            }
            worksFor(periodNs / 4);
            now = System.nanoTime();
            while (next <= now) {
                next += periodNs;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "reads":
                startReads(args[1]);
                break;
            case "ring":
                startRing();
                break;
            case "faults":
                startFaults(args[1]);
                break;
            case "sockets":
                startSockets();
                break;
            case "computes":
                start("computes", CpuShares::computes);
                break;
            case "in-step":
                start("computes", CpuShares::computes);
                start("in-step", () -> inStep(Long.parseLong(args[1]), Long.parseLong(args[2])));
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
        Thread.sleep(WARM_UP_MS);
        System.out.println("up");
        Thread.sleep(Long.MAX_VALUE);
    }
}
