import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.SynchronousQueue;

/**
 * Memory that one thread fills and one thread reads, each staying on its CPU: what RemoteRead does
 * from two nodes and LocalRead from one.
 *
 * A round is 2 MiB of fresh arrays, written once and read often enough that nearly all accesses are
 * reads. "up" is printed once the reader's loop has run for long enough to be compiled and most of the
 * heap in use is these arrays, then "rounds N" whenever a second has gone by.
 */
final class Rounds {
    private static final int BLOCKS = 4;
    private static final int BLOCK_INTS = 128 * 1024;
    private static final int PASSES = 60;
    private static final long WARM_UP_NS = 2_000_000_000L;
    private static final int WARM_UP_ROUNDS = 48;
    private static final long PROGRESS_NS = 1_000_000_000L;

    static volatile int sink;

    private Rounds() {}

    /** Allocates and touches first: where a page lies is decided here. */
    static int[][] fill(int seed) {
        int[][] blocks = new int[BLOCKS][];
        for (int b = 0; b < BLOCKS; b++) {
            int[] block = new int[BLOCK_INTS];
            for (int i = 0; i < block.length; i++) {
                block[i] = seed + i;
            }
            blocks[b] = block;
        }
        return blocks;
    }

    /** Depends on the order of the values, so that the loop stays one load after the other. */
    static int read(int[][] blocks) {
        int value = 0;
        for (int[] block : blocks) {
            for (int i = 0; i < block.length; i++) {
                value = value * 31 + block[i];
            }
        }
        return value;
    }

    static void fillFor(SynchronousQueue<int[][]> reader) throws InterruptedException {
        for (int seed = 1;; seed++) {
            reader.put(fill(seed));
        }
    }

    /** Where the next round's arrays come from. */
    interface Source {
        int[][] next() throws InterruptedException;
    }

    static void readFrom(Source source) throws InterruptedException {
        long start = System.nanoTime();
        long next = WARM_UP_NS;
        boolean up = false;
        for (int round = 1;; round++) {
            int[][] blocks = source.next();
            for (int p = 0; p < PASSES; p++) {
                sink = read(blocks);
            }
            long elapsed = System.nanoTime() - start;
            if (elapsed >= next && round >= WARM_UP_ROUNDS) {
                System.out.println(up ? "rounds " + round : "up");
                up = true;
                next = elapsed + PROGRESS_NS;
            }
        }
    }

    /** What a thread runs. */
    interface Body {
        void run() throws InterruptedException;
    }

    /** Starts a thread that runs its body on one CPU only; Java cannot say so, taskset(1) can. */
    static void startOn(int cpu, String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                bindTo(cpu);
                body.run();
            } catch (InterruptedException | IOException e) {
                e.printStackTrace();
                System.exit(1);
            }
        }, name);
        thread.start();
    }

    private static void bindTo(int cpu) throws IOException, InterruptedException {
        String self = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
        String mask = Long.toHexString(1L << cpu);
        Process taskset = new ProcessBuilder("taskset", "-p", mask, self).redirectErrorStream(true).start();
        String said = new String(taskset.getInputStream().readAllBytes());
        if (taskset.waitFor() != 0) {
            throw new IOException("taskset -p " + mask + " " + self + ": " + said);
        }
    }
}
