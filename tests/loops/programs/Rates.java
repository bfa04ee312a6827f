import java.util.Random;

/** Loops some of whose turns have a result: those with a mark, of which there are as many as the second argument says. */
final class Rates {
    static final int N = 1 << 18;
    /** Of N: what a program has that needs both ways compiled, and then has few results or none. */
    private static final int OFTEN = N / 4;
    /** Turns of an instance, but for those that have a number. */
    private static final int CHUNK = 4096;
    private static final int LATE_S = 4;
    private static final int THREADS = 4;

    private Rates() {}

    /** At random places, always the same ones. */
    private static byte[] marks(int count) {
        byte[] marks = new byte[N];
        Random random = new Random(42);
        for (int marked = 0; marked < count; ) {
            int at = count == N ? marked : random.nextInt(N);
            if (marks[at] == 0) {
                marks[at] = 1;
                marked++;
            }
        }
        return marks;
    }

    static void store(byte[] marks, int from, int to, int[] out, int value) {
        for (int i = from; i < to; i++) { // LOOP store
            if (marks[i] != 0) {
                out[i & (out.length - 1)] = value + i;
            }
        }
    }

    static int local(byte[] marks, int from, int to) {
        int last = from;
        for (int i = from; i < to; i++) { // LOOP local
            if (marks[i] != 0) {
                last = i;
            }
        }
        return last;
    }

    private static int stores(byte[] marks, int[] out, int chunk, int value) {
        for (int from = 0; from + chunk <= N; from += chunk) {
            store(marks, from, from + chunk, out, value);
        }
        return value + out[value & (out.length - 1)] + 1;
    }

    private static int locals(byte[] marks, int value) {
        int sum = value;
        for (int from = 0; from + CHUNK <= N; from += CHUNK) {
            sum += local(marks, from, from + CHUNK);
        }
        return sum;
    }

    /** Entered once: what runs is code for on-stack replacement. */
    static void onStack(byte[] marks, int[] out) {
        Program.sayUp();
        for (int value = 0; ; value++) {
            for (int i = 0; i < marks.length; i++) { // LOOP onStack
                if (marks[i] != 0) {
                    out[i & (out.length - 1)] = value + i;
                }
            }
        }
    }

    private static void threads(byte[] marks) {
        for (int t = 1; t < THREADS; t++) {
            Thread thread = new Thread(() -> {
                int[] out = new int[1024];
                for (int value = 0; ; value++) {
                    stores(marks, out, CHUNK, value);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        int[] out = new int[1024];
        Program.repeat(value -> stores(marks, out, CHUNK, value));
    }

    public static void main(String[] args) {
        byte[] marks = marks(Integer.parseInt(args[1]));
        byte[] often = marks(OFTEN);
        byte[] none = new byte[N];
        int[] out = new int[1024];
        switch (args[0]) {
            case "store":
                int chunk = args.length > 2 ? Integer.parseInt(args[2]) : CHUNK;
                Program.repeat(value -> stores(marks, out, chunk, value));
                break;
            case "warmedStore":
                Program.repeat(value -> stores(Program.warm() ? marks : often, out, CHUNK, value));
                break;
            case "late":
                // Its first result comes when a window has begun, and invalidates the code.
                Program.repeat(value -> stores(Program.seconds() > LATE_S ? marks : none, out, CHUNK, value));
                break;
            case "local":
                Program.repeat(value -> locals(marks, value));
                break;
            case "conditionalMove":
                // So often in its warm-up that the compiler takes a conditional move.
                Program.repeat(value -> locals(Program.warm() ? marks : often, value));
                break;
            case "onStack":
                onStack(marks, out);
                break;
            case "threads":
                threads(marks);
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
