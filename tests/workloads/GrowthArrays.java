import java.io.IOException;

/**
 * Float arrays that are reallocated as they grow, up to 2 MiB, again and again: the listing of the DJXPerf
 * paper at a size at which G1, with its default regions of 1 MiB, allocates the larger ones apart from all
 * others (humongous objects) and takes them back in young collections, when nothing refers to them.
 *
 * Prints "operations N" every 100 ms, arrays grown so far (progress=true), and what it does when it is told
 * on its standard input: "keep" has it keep LIVE_BYTES of arrays, and replace them one by one from then on,
 * so that collections come often and find much alive.
 */
final class GrowthArrays {
    private static final int FIRST_FLOATS = 4096;
    private static final int LAST_FLOATS = 512 * 1024;
    private static final long KEPT_SHARE_OF_HEAP = 2;

    private float[][] kept = {};
    private int next;
    private float[] values;

    private static volatile boolean keeping;

    private GrowthArrays() {}

    private void makeRoom() {
        float[] larger = new float[values.length * 2];
        System.arraycopy(values, 0, larger, 0, values.length);
        values = larger;
    }

    /** One array from its first size to its last, each half as hot as the next. */
    private int grow(int value) {
        if (keeping && kept.length == 0) {
            long bytes = Runtime.getRuntime().maxMemory() / KEPT_SHARE_OF_HEAP;
            kept = new float[(int) (bytes / (LAST_FLOATS * Float.BYTES))][];
        }
        values = new float[FIRST_FLOATS];
        values[0] = value;
        while (values.length < LAST_FLOATS) {
            makeRoom();
            values[values.length - 1] = value;
        }
        if (kept.length > 0) {
            kept[next++ % kept.length] = values;
        }
        return (int) values[values.length - 1] % 1000 + 1;
    }

    private static void listen() {
        try {
            for (int c = System.in.read(); c >= 0; c = System.in.read()) {
                if (c == '\n') {
                    keeping = true;
                    System.out.println("keeping");
                }
            }
        } catch (IOException e) {
            System.out.println(e);
        }
    }

    public static void main(String[] args) {
        GrowthArrays program = new GrowthArrays();
        Thread listener = new Thread(GrowthArrays::listen, "listener");
        listener.setDaemon(true);
        listener.start();
        Workload.repeat(args, program::grow);
    }
}
