import java.util.Arrays;

/**
 * Arrays of floats that grow by doubling up to 2 MiB and are then thrown away, as many containers of
 * primitives do: with G1's default regions most of what is allocated is humongous.
 */
final class GrowingArrays {
    private static final int FIRST_VALUES = 1024;
    private static final int VALUES = 512 * 1024;

    private GrowingArrays() {}

    private static int grow(int value) {
        float[] values = new float[FIRST_VALUES];
        int used = 0;
        while (used < VALUES) {
            if (used == values.length) {
                values = Arrays.copyOf(values, values.length * 2);
            }
            values[used] = value + used;
            used++;
        }
        return value + (int) values[used - 1] % 3;
    }

    public static void main(String[] args) {
        Workload.repeat(args, GrowingArrays::grow);
    }
}
