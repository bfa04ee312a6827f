import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

/**
 * A program whose wasted memory work is known by construction.
 *
 * A program is a list of phases that its thread runs in turn until it is ended. All accesses of one
 * type in a phase have one chance of being wasteful, which the program states. The harness measures
 * the CPU time of each phase, because that is what the clock sampler goes by; so the true fraction is
 *
 *     by time:    sum of (CPU time x fraction) / sum of CPU time
 *     by access:  sum of (accesses x fraction) / sum of accesses
 *
 * over the phases that make accesses of the type in question. Every quarter of a second it prints the totals
 * so far, one line a phase, with the time of System.nanoTime:
 *
 *     phase NAME at NS cpu NS stores N dead F silent_store F loads N silent_load F width BYTES
 *
 * A fraction that is not stated is printed as "?": such a program has no truth for that kind.
 *
 * Rules for programs. A call of a phase lasts a third of a millisecond or more, so that the harness
 * weighs nothing. Loops are in methods that are called often, so that they are compiled as a whole.
 * Accesses are all of one width when the machine makes them, up to 8 bytes of vectors: values that repeat do so in
 * aligned blocks of 8 bytes. What repeats is spread at random (marks), as the samples of an unrolled
 * loop prefer some of its instructions, and changes from call to call (SETS). Nothing is loaded in loops but what is stated: no fields, no
 * arrays whose length the compiler does not know to be constant in the loop. What a loop computes between its accesses is straight code
 * (slow()): a loop in it would be one of its own, without accesses.
 *
 * Where several loops are compiled into one method, no clock can be read around each: see mixes(). In such programs each loop depends
 * on the one before, as the processor would run both at a time otherwise, and their times would not add up.
 */
final class Truth {
    private static final long WARM_UP_NS = 3_000_000_000L;
    private static final long PRINT_MS = 250;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final List<Truth> ALL = new ArrayList<>();

    static volatile long sink;

    private final List<Phase> phases = new ArrayList<>();
    private final List<Phase> loops = new ArrayList<>();
    private int[][] mixes;
    private int current = -1;
    private long currentSince;

    static final class Phase {
        private final Truth program;
        private final String name;
        private final LongUnaryOperator work;
        private double stores;
        private double loads;
        private double dead = Double.NaN;
        private double silentStore = Double.NaN;
        private double silentLoad = Double.NaN;
        private int width = 8;
        private volatile long calls;
        private volatile long cpuNs;

        private Phase(Truth program, String name, LongUnaryOperator work) {
            this.program = program;
            this.name = name;
            this.work = work;
        }

        /** Stores in one call, how many of them are followed by a store, and by one of the same value. */
        Phase stores(double count, double deadFraction, double silentFraction) {
            stores = count;
            dead = deadFraction;
            silentStore = silentFraction;
            return this;
        }

        /** Loads in one call, and how many of them are followed by a load of the same value. */
        Phase loads(double count, double silentFraction) {
            loads = count;
            silentLoad = silentFraction;
            return this;
        }

        /** Bytes of each access, where accesses of other phases are wider or narrower: a wide one counts more. */
        Phase width(int bytes) {
            width = bytes;
            return this;
        }

        Phase phase(String next, LongUnaryOperator nextWork) {
            return program.phase(next, nextWork);
        }

        Phase loop(String next) {
            return program.loop(next);
        }

        void run() {
            program.run();
        }

        /** Runs beside other programs, in a thread of its own. */
        void start() {
            program.start();
        }

        private void print(long now) {
            print(now, cpuNs, calls);
        }

        private void print(long now, double ns, double times) {
            System.out.printf(
                "phase %s at %d cpu %.0f stores %.0f dead %s silent_store %s loads %.0f silent_load %s width %d%n",
                name, now, ns, times * stores, text(dead), text(silentStore), times * loads, text(silentLoad), width);
        }

        private static String text(double fraction) {
            return Double.isNaN(fraction) ? "?" : Double.toString(fraction);
        }
    }

    /** For a type of access that has no stated fraction. */
    static final double UNKNOWN = Double.NaN;

    /** Does its loops, the i-th of them times[i] times, in one method; round as in phase(). */
    interface Loops {
        long apply(int[] times, long round);
    }

    /**
     * A program whose loops are in one method, so that no clock can be read around each: its calls do them in several mixes
     * in turn, as many as there are loops, which must be linearly independent. The mixes' times give the time of each loop
     * (loop(), in the order of times) by a system of linear equations.
     */
    Truth mixes(Loops work, int[]... times) {
        mixes = times;
        for (int i = 0; i < times.length; i++) {
            int mix = i;
            phase("mix", round -> work.apply(times[mix], round * times.length + mix));
        }
        return this;
    }

    /** What is stated of it is of doing it once. Accesses that are not stated are none, or of types that nobody asks for. */
    Phase loop(String name) {
        Phase loop = new Phase(this, name, null);
        loops.add(loop);
        return loop;
    }

    /** work is given a number that is new each time and returns one that depends on what it did. */
    Phase phase(String name, LongUnaryOperator work) {
        Phase phase = new Phase(this, name, work);
        phases.add(phase);
        return phase;
    }

    private void start() {
        start(this::repeat);
    }

    private void start(Runnable work) {
        register(this);
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        start();
        print();
    }

    private static synchronized void register(Truth program) {
        ALL.add(program);
    }

    private void repeat() {
        for (long round = 1; ; round++) {
            for (Phase phase : phases) {
                call(phase, round);
            }
        }
    }

    /** A method of its own, so that the loop around it is never compiled together with the work. */
    private static void call(Phase phase, long round) {
        long start = cpuNs();
        sink += phase.work.applyAsLong(round);
        phase.cpuNs += cpuNs() - start;
        phase.calls++;
    }

    /** Of the calling thread. */
    static long cpuNs() {
        return THREADS.getCurrentThreadCpuTime();
    }

    /**
     * For a method that never returns, in place of the harness calling one: the times of the next mix. What the calling
     * thread did since the call before was the mix before.
     */
    int[] nextMix() {
        long now = cpuNs();
        if (current >= 0) {
            phases.get(current).cpuNs += now - currentSince;
            phases.get(current).calls++;
        }
        current = (current + 1) % mixes.length;
        currentSince = now;
        return mixes[current];
    }

    /** Runs what never returns, and takes its mixes by nextMix(). */
    void runForever(Runnable work) {
        start(work);
        print();
    }

    private void printTotals(long now) {
        if (mixes == null) {
            phases.forEach(phase -> phase.print(now));
            return;
        }
        int n = mixes.length;
        double[][] equations = new double[n][n + 1];
        double[] done = new double[n];
        for (int mix = 0; mix < n; mix++) {
            double calls = Math.max(1, phases.get(mix).calls);
            for (int i = 0; i < n; i++) {
                equations[mix][i] = mixes[mix][i];
                done[i] += calls * mixes[mix][i];
            }
            equations[mix][n] = phases.get(mix).cpuNs / calls;
        }
        double[] ns = solved(equations);
        for (int i = 0; i < n; i++) {
            loops.get(i).print(now, Math.max(0, ns[i] * done[i]), done[i]);
        }
    }

    /** Each row: coefficients and the right side. */
    private static double[] solved(double[][] rows) {
        int n = rows.length;
        for (int k = 0; k < n; k++) {
            int pivot = k;
            for (int i = k + 1; i < n; i++) {
                pivot = Math.abs(rows[i][k]) > Math.abs(rows[pivot][k]) ? i : pivot;
            }
            double[] row = rows[pivot];
            rows[pivot] = rows[k];
            rows[k] = row;
            for (int i = 0; i < n; i++) {
                double factor = i == k ? 0 : rows[i][k] / row[k];
                for (int j = k; j <= n; j++) {
                    rows[i][j] -= factor * row[j];
                }
            }
        }
        double[] x = new double[n];
        for (int k = 0; k < n; k++) {
            x[k] = rows[k][n] / rows[k][k];
        }
        return x;
    }

    /** Prints the totals for ever; "up" once everything is compiled. */
    static void print() {
        long up = System.nanoTime() + WARM_UP_NS;
        boolean said = false;
        while (true) {
            long now = System.nanoTime();
            for (Truth program : ALL) {
                program.printTotals(now);
            }
            System.out.println("end of totals");
            if (!said && now > up) {
                System.out.println("up");
                said = true;
            }
            try {
                Thread.sleep(PRINT_MS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    // ---------------------------------------------------------------- for computing

    /** A number that takes as long to compute as each of such calls (some 80 cycles, 64 instructions), without loop and access. */
    static long slow(long x) {
        return slow4(slow4(slow4(slow4(x))));
    }

    private static long slow4(long x) {
        return slow2(slow2(x));
    }

    private static long slow2(long x) {
        x = (x ^ x >>> 29) * 0x5851F42D;
        return (x ^ x >>> 31) * 0x14057B7F;
    }

    // ---------------------------------------------------------------- for building arrays

    /**
     * How many sets of marks a program takes in turn, a call each: time is not spent evenly over an array
     * (a page's first lines are slower), so the samples prefer some places, and of one set those might have
     * more marks than others.
     */
    static final int SETS = 32;

    /** The one of SETS whose turn it is. */
    static int turn(long round) {
        return (int) (round % SETS);
    }

    /**
     * The part of stores that repeat a value, where a call makes that many passes over an array in which a part of the
     * elements keeps its value, and then another set of elements takes its turn.
     */
    static double repeated(double part, int passes) {
        return ((passes - 1) * part + part * part) / passes;
    }

    /** n flags, of which exactly the given fraction is true, in random order. */
    static boolean[] marks(int n, double fraction, long seed) {
        boolean[] marks = new boolean[n];
        int count = (int) Math.round(n * fraction);
        Random random = new Random(seed);
        for (int i = 0; i < count; i++) {
            marks[i] = true;
        }
        for (int i = n - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            boolean other = marks[i];
            marks[i] = marks[j];
            marks[j] = other;
        }
        return marks;
    }

    /** The places of the flags that are set, in ascending order. */
    static int[] places(boolean[] marks) {
        return IntStream.range(0, marks.length).filter(i -> marks[i]).toArray();
    }

    /** The numbers 0 to n - 1 in random order that is always the same. */
    static int[] shuffled(int n) {
        int[] order = IntStream.range(0, n).toArray();
        Random random = new Random(n);
        for (int i = n - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int other = order[i];
            order[i] = order[j];
            order[j] = other;
        }
        return order;
    }

    /** 0 where the element's 8 bytes are marked, -1 elsewhere. */
    static long[] longMask(int n, double fraction, long seed) {
        boolean[] marks = marks(n, fraction, seed);
        long[] mask = new long[n];
        for (int i = 0; i < n; i++) {
            mask[i] = marks[i] ? 0 : -1;
        }
        return mask;
    }

    static int[] intMask(int n, double fraction, long seed) {
        boolean[] marks = marks(n / 2, fraction, seed);
        int[] mask = new int[n];
        for (int i = 0; i < n; i++) {
            mask[i] = marks[i / 2] ? 0 : -1;
        }
        return mask;
    }
}
