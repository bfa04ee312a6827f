import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;

/** Memory outside the heap: 45% of what is stored to a direct buffer repeats the value. */
final class DirectBuffer {
    private static final int N = 8192;
    private static final int PASSES = 50;

    private DirectBuffer() {}

    static void pass(LongBuffer buffer, long[] mask, long value) {
        for (int i = 0; i < N; i++) {
            buffer.put(i, value & mask[i]);
        }
    }

    static long passes(LongBuffer buffer, long[] mask, long round) {
        for (int p = 0; p < PASSES; p++) {
            pass(buffer, mask, round * PASSES + p);
        }
        return round;
    }

    public static void main(String[] args) {
        LongBuffer buffer = ByteBuffer.allocateDirect(8 * N).order(ByteOrder.nativeOrder()).asLongBuffer();
        long[][] masks = new long[Truth.SETS][];
        for (int k = 0; k < masks.length; k++) {
            masks[k] = Truth.longMask(N, 0.45, k);
        }
        new Truth()
            .phase("put", round -> passes(buffer, masks[Truth.turn(round)], round))
            .stores(1.0 * N * PASSES, 1, Truth.repeated(0.45, PASSES))
            .run();
    }
}
