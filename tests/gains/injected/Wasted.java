import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Work that does nothing for the program. Its loads and stores are most of it, and each is one of a pair that a window finds:
 *
 * fill    an array is stored to, and overwritten by the next call without being read
 * copy    elements are copied to where nobody reads them, the same ones each time
 * hit     a small table is loaded, which never changes and stays in the cache
 * miss    one line of each page of a table, again when all others were. These share so few places of a cache that they are no longer there, and
 *         put out little that the program has there: it would lose more than these loads take
 *
 * Elements are visited out of order, so that compilers do not make vectors of it. How many turns a call makes is what the file that the
 * property wasted.turns names says now: what the work costs is seen in one JVM, by the code that it has compiled once.
 */
public final class Wasted {
    private static final long LOOKS_MS = 20;
    private static final int STEP = 97;
    private static final int PAGE = 1024;
    private static final int[] filled = new int[4096];
    private static final int[] table = new int[4096];
    private static final int[] large = new int[1 << 20];

    private static int turns;
    private static int next;
    private static int sink;

    private Wasted() {}

    static void look() {
        Path file = Path.of(System.getProperty("wasted.turns"));
        Thread looks = new Thread(() -> {
            try {
                for (;;) {
                    turns = Integer.parseInt(Files.readString(file));
                    Thread.sleep(LOOKS_MS);
                }
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        looks.setDaemon(true);
        looks.start();
    }

    public static void fill() {
        int[] a = filled;
        int at = next;
        for (int i = 0, end = turns; i < end; i++) {
            at = (at + STEP) & (a.length - 1);
            a[at] = i + at;
        }
        next = at;
    }

    public static void copy() {
        int[] a = filled;
        int[] from = table;
        int at = next;
        for (int i = 0, end = turns; i < end; i++) {
            at = (at + STEP) & (a.length - 1);
            a[at] = from[at];
        }
        next = at;
    }

    public static void hit() {
        int[] from = table;
        int at = next;
        int sum = 0;
        for (int i = 0, end = turns; i < end; i++) {
            at = (at + STEP) & (from.length - 1);
            sum += from[at];
        }
        next = at;
        sink = sum;
    }

    public static void miss() {
        int[] from = large;
        int at = next;
        int sum = 0;
        for (int i = 0, end = turns; i < end; i++) {
            // Each line depends on the one before, or the processor would load many at once.
            at = (at + (STEP + from[at]) * PAGE) & (from.length - 1);
            sum += at;
        }
        next = at;
        sink = sum;
    }
}
