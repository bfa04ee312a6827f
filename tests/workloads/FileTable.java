import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;

/**
 * Reads a file in chunks, again and again, and notes what it finds in a table of 64 MiB, here and there. The
 * kernel and the C library copy such chunks by string instructions, which some processors make slow while
 * anything is watched, and most of the table's places are never looked at again: who waits for that keeps
 * the program slow.
 *
 * Prints as Workload does; an operation is the whole file.
 */
final class FileTable {
    private static final int FILE_BYTES = 16 << 20;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final int STRIDE = 16;
    private static final int TABLE = 1 << 24;

    private final File file;
    private final byte[] chunk = new byte[CHUNK_BYTES];
    private final int[] table = new int[TABLE];
    private int seed = 1;

    private FileTable(File file) {
        this.file = file;
    }

    private int pass(int value) {
        int sum = 0;
        try (FileInputStream in = new FileInputStream(file)) {
            for (int n = in.read(chunk); n > 0; n = in.read(chunk)) {
                for (int i = 0; i < n; i += STRIDE) {
                    sum += chunk[i];
                }
                seed = seed * 1103515245 + 12345;
                table[seed >>> 8] = value;
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return sum % 1000 + 1;
    }

    public static void main(String[] args) throws IOException {
        File file = File.createTempFile("jxperf-table", null);
        file.deleteOnExit();
        try (FileOutputStream out = new FileOutputStream(file)) {
            out.write(new byte[FILE_BYTES]);
        }
        Workload.repeat(args, new FileTable(file)::pass);
    }
}
