import java.io.File;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Fills the native memory that ended threads gave back, and looks after it.
 *
 * Arguments: how many threads, and a file: once it exists the threads end. Prints "up", then "reused" when
 * their memory is the program's, then "checked" again and again, or "changed N bytes".
 */
final class ReusedMemory {
    private static final int BUFFERS = 20_000;
    private static final int BYTES = 1000;
    private static final byte CONTENT = 0x5a;

    private ReusedMemory() {}

    private static void await(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            return;
        }
    }

    private static List<Thread> start(int count, CountDownLatch end) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> await(end));
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        return threads;
    }

    private static List<ByteBuffer> fill() {
        List<ByteBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < BUFFERS; i++) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
            while (buffer.hasRemaining()) {
                buffer.put(CONTENT);
            }
            buffers.add(buffer);
        }
        return buffers;
    }

    private static int changed(List<ByteBuffer> buffers) {
        int bytes = 0;
        for (ByteBuffer buffer : buffers) {
            for (int i = 0; i < BYTES; i++) {
                bytes += buffer.get(i) == CONTENT ? 0 : 1;
            }
        }
        return bytes;
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> threads = start(Integer.parseInt(args[0]), end);
        File file = new File(args[1]);
        System.out.println("up");
        while (!file.exists()) {
            Thread.sleep(50);
        }
        System.gc(); // A safepoint, after which HotSpot forgets environments that were disposed of.
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        Thread.sleep(200); // Joined before they have freed all.
        List<ByteBuffer> buffers = fill();
        System.out.println("reused");
        while (true) {
            int bytes = changed(buffers);
            System.out.println(bytes == 0 ? "checked" : "changed " + bytes + " bytes");
            Thread.sleep(100);
        }
    }
}
