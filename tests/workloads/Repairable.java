/**
 * Three wastes, each of which a build may have repaired; the constants are what its source says. An array is cleared
 * before it is filled and read; a table that never changes is summed again and again; marks are set that were set.
 * Elements are visited out of order, so that each loop takes about as long as the others: none can be vectorised.
 */
final class Repairable {
    private static final boolean CLEARS = true;
    private static final boolean SUMS = true;
    private static final boolean MARKS = true;
    private static final int ROUNDS = 32;
    private static final int STEP = 97;

    private Repairable() {}

    static void clear(int[] a) {
        for (int i = 0; i < a.length; i++) {
            a[(i * STEP) & (a.length - 1)] = 0;
        }
    }

    static int fill(int[] a, int value) {
        for (int i = 0; i < a.length; i++) {
            value += 1013904223;
            a[(i * STEP) & (a.length - 1)] = value;
        }
        return value;
    }

    static int read(int[] a) {
        int found = 0;
        for (int i = 0; i < a.length; i++) {
            found ^= a[(i * STEP) & (a.length - 1)];
        }
        return found;
    }

    static int sum(int[] table) {
        int sum = 0;
        for (int i = 0; i < table.length; i++) {
            sum += table[(i * STEP) & (table.length - 1)];
        }
        return sum;
    }

    static void mark(byte[] marks) {
        for (int i = 0; i < marks.length; i++) {
            marks[(i * STEP) & (marks.length - 1)] = 1;
        }
    }

    static int rounds(int[] a, int[] table, byte[] marks, int value) {
        for (int r = 0; r < ROUNDS; r++) {
            if (CLEARS) {
                clear(a);
            }
            value = fill(a, value) ^ read(a);
            if (SUMS) {
                value += sum(table);
            }
            if (MARKS) {
                mark(marks);
            }
        }
        return value;
    }

    public static void main(String[] args) {
        int[] a = Workload.array();
        int[] table = Workload.array();
        byte[] marks = new byte[a.length];
        Workload.repeat(args, value -> rounds(a, table, marks, value));
    }
}
