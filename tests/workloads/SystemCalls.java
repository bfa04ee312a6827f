import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that do nothing but system calls which a signal could end early, and look whether one did: those of
 * system_calls.c, and what Java has for them. Every other thread that waits for a time also computes, so that it has
 * processor time of both sorts.
 *
 * Arguments: the JNI library; "disturbed" for signals that do end the native ones early. Runs until its standard input
 * ends, then prints for each "call NAME calls N interrupted N early N", and "done". A call that fails in another way
 * ends it.
 *
 * parkNanos may return early by its specification; what it did is only told.
 */
final class SystemCalls {
    private static final int TIMES = 20;
    private static final int COMPUTED = 100_000;
    private static final int TIMEOUT_MS = 1;
    private static final long PARK_NS = 200_000L;
    private static final int WRITTEN_BYTES = 1 << 20;
    private static final int READ_BYTES = 1 << 16;

    private static final List<Counts> ALL = new ArrayList<>();
    private static volatile boolean ending;
    static volatile long sink;

    private SystemCalls() {}

    static native int count();
    static native String name(int which);
    static native long open(int which);
    static native long some(long site, int times);
    static native boolean disturb();

    private static final class Counts {
        final String name;
        final AtomicLong calls = new AtomicLong();
        final AtomicLong interrupted = new AtomicLong();
        final AtomicLong early = new AtomicLong();

        Counts(String name) {
            this.name = name;
        }

        @Override
        public String toString() {
            return "call " + name + " calls " + calls + " interrupted " + interrupted + " early " + early;
        }
    }

    /** Whether one call returned early. */
    private interface Once {
        boolean call() throws Exception;
    }

    /** What one thread does for ever. */
    private interface Body {
        void some(Counts counts) throws Exception;
    }

    static long compute(long x) {
        for (int i = 0; i < COMPUTED; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    private static void loop(Counts counts, Body body, boolean computes) {
        long x = 1;
        try {
            while (true) {
                body.some(counts);
                if (computes) {
                    x = compute(x);
                    sink = x;
                }
            }
        } catch (Exception e) {
            if (!ending) {
                System.out.println("failed: " + counts.name + ": " + e);
                Runtime.getRuntime().halt(1);
            }
        }
    }

    private static void start(String name, Body body) {
        Counts counts = new Counts(name);
        boolean computes = ALL.size() % 2 == 1;
        ALL.add(counts);
        Thread thread = new Thread(() -> loop(counts, body, computes), name);
        thread.setDaemon(true);
        thread.start();
    }

    // ---------------------------------------------------------------- native

    private static void startNative(int which) {
        long site = open(which);
        if (site == 0) {
            throw new IllegalStateException("cannot prepare " + name(which));
        }
        start(name(which), counts -> {
            long outcome = some(site, TIMES);
            if (outcome < 0) {
                throw new IOException("errno " + -outcome);
            }
            counts.calls.addAndGet(TIMES);
            counts.interrupted.addAndGet(outcome >> 32);
            counts.early.addAndGet((int) outcome);
        });
    }

    // ---------------------------------------------------------------- Java

    private static void startJava(String name, Once once) {
        start(name, counts -> {
            if (once.call()) {
                counts.early.incrementAndGet();
            }
            counts.calls.incrementAndGet();
        });
    }

    private static boolean tooSoon(long start, long nanos) {
        return System.nanoTime() - start < nanos;
    }

    private static void startWaits() throws IOException {
        Selector selector = Selector.open();
        startJava("Selector.select", () -> {
            long start = System.nanoTime();
            return selector.select(TIMEOUT_MS) != 0 || tooSoon(start, TIMEOUT_MS * 1_000_000L);
        });
        startJava("Thread.sleep", () -> {
            long start = System.nanoTime();
            Thread.sleep(TIMEOUT_MS);
            return tooSoon(start, TIMEOUT_MS * 1_000_000L);
        });
        startJava("parkNanos", () -> {
            long start = System.nanoTime();
            LockSupport.parkNanos(PARK_NS);
            return tooSoon(start, PARK_NS);
        });
    }

    private static void startSockets() throws IOException {
        ServerSocket server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        Socket silent = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket listening = server.accept();
        listening.setSoTimeout(TIMEOUT_MS);
        startJava("Socket.read", () -> {
            long start = System.nanoTime();
            try {
                throw new IOException("read " + listening.getInputStream().read() + " from " + silent);
            } catch (SocketTimeoutException e) {
                return tooSoon(start, TIMEOUT_MS * 1_000_000L);
            }
        });
        startJava("Socket.connect", () -> {
            try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                socket.setSoLinger(true, 0);
                return socket.getInputStream().read() < 0;
            }
        });
        startJava("ServerSocket.accept", () -> {
            try (Socket socket = server.accept()) {
                socket.setSoLinger(true, 0);
                socket.getOutputStream().write(0);
                waitForTheEnd(socket);
            }
            return false;
        });
    }

    /** The peer closes with a reset. */
    private static void waitForTheEnd(Socket socket) {
        try {
            socket.getInputStream().read();
        } catch (IOException e) {
            return;
        }
    }

    private static void startPipe() throws IOException {
        Pipe pipe = Pipe.open();
        ByteBuffer written = ByteBuffer.allocateDirect(WRITTEN_BYTES);
        ByteBuffer read = ByteBuffer.allocateDirect(READ_BYTES);
        startJava("Pipe.write", () -> {
            written.clear();
            return pipe.sink().write(written) < WRITTEN_BYTES;
        });
        startJava("Pipe.read", () -> {
            read.clear();
            return pipe.source().read(read) < 1;
        });
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        for (int i = 0; i < count(); i++) {
            startNative(i);
        }
        startWaits();
        startSockets();
        startPipe();
        if (args.length > 1 && !disturb()) {
            throw new IllegalStateException("cannot disturb");
        }
        Thread.sleep(2000);
        System.out.println("up");
        while (System.in.read() >= 0) {
        }
        ending = true;
        for (Counts counts : ALL) {
            System.out.println(counts);
        }
        System.out.println("done");
        Runtime.getRuntime().halt(0);
    }
}
