/** Loops that the compiler unrolls, and some that it makes of wide instructions, of arrays whose elements share bytecodes. */
final class InlinedLoops {
    private static final int ELEMENTS = 512;
    /** Of loops of wide instructions. */
    private static final int MANY = 8192;
    private static final int ROUNDS = 64;

    private static final byte[] bytes = new byte[MANY];
    private static final boolean[] flags = new boolean[MANY];
    private static final int[] ints = new int[ELEMENTS];
    private static final float[] floats = new float[MANY / 4];
    private static final String[] strings = new String[ELEMENTS];
    private static final Integer[] integers = new Integer[ELEMENTS];

    private InlinedLoops() {}

    static void mask(byte[] a) {
        for (int i = 0; i < a.length; i++) {
            a[i] &= 3;
        }
    }

    static void raise(boolean[] a) {
        for (int i = 0; i < a.length; i++) {
            a[i] |= true;
        }
    }

    static int total(int[] a) {
        int sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i];
        }
        return sum;
    }

    static void scale(float[] a) {
        for (int i = 0; i < a.length; i++) {
            a[i] = a[i] * 0.5f;
        }
    }

    static int missing(String[] a) {
        int count = 0;
        for (int i = 0; i < a.length; i++) {
            count += a[i] == null ? 1 : 2;
        }
        return count;
    }

    static int absent(Integer[] a) {
        int count = 0;
        for (int i = 0; i < a.length; i++) {
            count += a[i] == null ? 3 : 1;
        }
        return count;
    }

    static int rounds(int value) {
        int sum = value;
        for (int r = 0; r < ROUNDS; r++) {
            mask(bytes);
            raise(flags);
            sum += total(ints);
            scale(floats);
            sum += missing(strings) + absent(integers);
        }
        return sum;
    }

    public static void main(String[] args) {
        Fruit.madeBy(InlinedLoops.class, "mask", "element", "byte[]", "");
        Fruit.madeBy(InlinedLoops.class, "raise", "element", "boolean[]", "");
        Fruit.madeBy(InlinedLoops.class, "total", "element", "int[]", "");
        Fruit.madeBy(InlinedLoops.class, "scale", "element", "float[]", "");
        Fruit.madeBy(InlinedLoops.class, "missing", "element", "java.lang.String[]", "");
        Fruit.madeBy(InlinedLoops.class, "absent", "element", "java.lang.Integer[]", "");
        Workload.repeat(args, InlinedLoops::rounds);
    }
}
