/** Loops that fill arrays, in whose place the compiler may call code of its own. */
final class InlinedFills {
    private static final int ELEMENTS = 4096;
    private static final int ROUNDS = 64;

    private static final byte[] bytes = new byte[ELEMENTS];
    private static final boolean[] flags = new boolean[ELEMENTS];
    private static final int[] ints = new int[ELEMENTS];
    private static final long[] longs = new long[ELEMENTS / 8];

    private InlinedFills() {}

    static void fill(byte[] a) {
        for (int i = 0; i < a.length; i++) {
            a[i] = 3;
        }
    }

    static void raise(boolean[] a) {
        for (int i = 0; i < a.length; i++) {
            a[i] = true;
        }
    }

    static void clear(int[] a) {
        for (int i = 0; i < a.length; i++) {
            a[i] = 0;
        }
    }

    static long total(long[] a) {
        long sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum = sum * 31 + a[i];
        }
        return sum;
    }

    static int rounds(int value) {
        long sum = value;
        for (int r = 0; r < ROUNDS; r++) {
            fill(bytes);
            sum += total(longs);
            raise(flags);
            clear(ints);
        }
        return (int) sum;
    }

    public static void main(String[] args) {
        Fruit.madeBy(InlinedFills.class, "fill", "element", "byte[]", "");
        Fruit.madeBy(InlinedFills.class, "raise", "element", "boolean[]", "");
        Fruit.madeBy(InlinedFills.class, "clear", "element", "int[]", "");
        Fruit.madeBy(InlinedFills.class, "total", "element", "long[]", "");
        Workload.repeat(args, InlinedFills::rounds);
    }
}
