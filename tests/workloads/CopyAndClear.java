/**
 * Arrays of many lengths are copied to ("copy"), always with the same bytes; or new ones are cleared by
 * the JVM, in vain, because they are filled at once ("clear"). What copies and clears them are masked
 * vector moves and repeated string instructions, where the processor has them.
 */
final class CopyAndClear {
    private static final int ROUNDS = 512;

    static int[] kept;

    private CopyAndClear() {}

    static int copies(byte[] from, byte[] to, int value) {
        for (int r = 0; r < ROUNDS * 16; r++) {
            System.arraycopy(from, 0, to, 0, 1 + (r * 7 & 31));
        }
        return value + to[3];
    }

    static int clears(int value) {
        for (int r = 0; r < ROUNDS; r++) {
            int[] a = new int[2048];
            kept = a;
            for (int i = 0; i < a.length; i++) {
                a[i] = value;
            }
        }
        return value + 1;
    }

    public static void main(String[] args) {
        byte[] from = new byte[64];
        byte[] to = new byte[64];
        if (args[0].equals("copy")) {
            Workload.repeat(new String[0], value -> copies(from, to, value));
        } else {
            Workload.repeat(new String[0], value -> clears(value));
        }
    }
}
