import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/** One operation that does something in vain, of each kind that people know: the first argument names it. */
final class Problems {
    private static final int COUNT = 2048;

    private static int[] numbers = new int[COUNT];
    private static final byte[] bytes = new byte[COUNT];
    private static final List<Integer> list = new ArrayList<>();
    private static Tree tree;

    private Problems() {}

    // ---------------------------------------------------------------- copied

    static final class Declaration {
        long name;
        long type;
        long value;
        long scope;
    }

    private static final Declaration[] declarations = new Declaration[COUNT];
    private static final Declaration scratch = new Declaration();

    static void copyDeclaration(Declaration from) {
        scratch.name = from.name;
        scratch.type = from.type;
        scratch.value = from.value;
        scratch.scope = from.scope;
    }

    /** Copies each to look at the name of one. */
    private static int copied(int value) {
        for (int i = 0; i < 100; i++) {
            for (Declaration d : declarations) {
                copyDeclaration(d);
            }
        }
        return value + (int) scratch.name;
    }

    // ---------------------------------------------------------------- cleared

    static void fillNumbers(int[] a, int value) {
        for (int i = 0; i < a.length; i++) {
            a[i] = value + i * 3;
        }
    }

    private static int cleared(int value) {
        int sum = value;
        for (int i = 0; i < 200; i++) {
            Arrays.fill(numbers, 0);
            fillNumbers(numbers, sum);
            sum += numbers[sum & (COUNT - 1)];
        }
        return sum;
    }

    // ---------------------------------------------------------------- rewritten

    private static int rewritten(int value) {
        for (int i = 0; i < 200; i++) {
            markAll(numbers, value > Integer.MIN_VALUE ? 7 : value);
        }
        return value + numbers[value & (COUNT - 1)];
    }

    static void markAll(int[] a, int mark) {
        for (int i = 0; i < a.length; i++) {
            a[i] = mark;
        }
    }

    // ---------------------------------------------------------------- searched

    static int findNumber(int[] a, int wanted) {
        for (int i = 0; i < a.length; i++) {
            if (a[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    private static int searched(int value) {
        int sum = value;
        for (int i = 0; i < 200; i++) {
            sum += findNumber(numbers, COUNT - 1 - (i & 15));
        }
        return sum;
    }

    // ---------------------------------------------------------------- bookkeeping

    static final class Buffer {
        private byte[] block = bytes;
        private int position;
        private volatile int limit = COUNT; // So that nothing is kept in registers.

        int next() {
            if (position >= limit) {
                position = 0;
            }
            return block[position++];
        }
    }

    private static final Buffer buffer = new Buffer();

    private static int bookkeeping(int value) {
        int sum = value;
        for (int i = 0; i < 200_000; i++) {
            sum += buffer.next();
        }
        return sum;
    }

    // ---------------------------------------------------------------- scaffolding

    /** Hides null elements, as wrappers do that everything goes through. */
    static final class CheckingIterator implements Iterator<Integer> {
        private final Iterator<Integer> inner;
        private final List<Integer> of;

        CheckingIterator(List<Integer> of) {
            this.of = of;
            inner = of.iterator();
        }

        @Override
        public boolean hasNext() {
            return of.size() > 0 && inner.hasNext();
        }

        @Override
        public Integer next() {
            if (of.isEmpty()) {
                throw new IllegalStateException();
            }
            return inner.next();
        }
    }

    private static int scaffolding(int value) {
        int sum = value;
        for (int i = 0; i < 100; i++) {
            for (Iterator<Integer> each = new CheckingIterator(list); each.hasNext();) {
                sum += each.next();
            }
        }
        return sum;
    }

    // ---------------------------------------------------------------- repeated

    static int parse(byte[] text) {
        int number = 0;
        for (byte b : text) {
            number = number * 31 + b;
        }
        return number;
    }

    private static int repeated(int value) {
        int sum = value;
        for (int i = 0; i < 300; i++) {
            sum ^= parse(bytes);
        }
        return sum;
    }

    // ---------------------------------------------------------------- grown

    static long[] growList(long[] a) {
        return Arrays.copyOf(a, a.length * 2);
    }

    private static int grown(int value) {
        int sum = value;
        for (int i = 0; i < 20; i++) {
            long[] a = new long[16];
            for (int n = 0; n < 16 * COUNT; n++) {
                if (n == a.length) {
                    a = growList(a);
                }
                a[n] = n + sum;
            }
            sum += (int) a[sum & (COUNT - 1)];
        }
        return sum;
    }

    // ---------------------------------------------------------------- allocated

    private static final Long[] sums = new Long[COUNT];

    /** Each sum is another object, of which the one before is garbage. */
    private static int allocated(int value) {
        for (int i = 0; i < 200_000; i++) {
            int at = (i * 31) & (COUNT - 1);
            sums[at] = sums[at] + (i + value | 1024);
        }
        return sums[value & (COUNT - 1)].intValue();
    }

    // ---------------------------------------------------------------- allocated and kept, which is not in vain

    /** For longer than a window takes. */
    private static final long[][] kept = new long[300_000][];

    private static int keptCount;

    private static int kept(int value) {
        int sum = value;
        for (int i = 0; i < 20_000; i++) {
            sum = sum * 31 + (sum >>> 7);
        }
        kept[keptCount++ % kept.length] = new long[] {sum, value, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        return sum;
    }

    // ---------------------------------------------------------------- a walk, in which nothing is in vain

    static final class Tree {
        final int key;
        Tree left;
        Tree right;

        Tree(int key) {
            this.key = key;
        }

        static Tree of(int low, int high) {
            if (low >= high) {
                return null;
            }
            Tree t = new Tree((low + high) / 2);
            t.left = of(low, t.key);
            t.right = of(t.key + 1, high);
            return t;
        }

        boolean has(int wanted) {
            Tree t = this;
            while (t != null && t.key != wanted) {
                t = wanted < t.key ? t.left : t.right;
            }
            return t != null;
        }
    }

    private static int walk(int value) {
        int sum = value;
        for (int i = 0; i < 20_000; i++) {
            sum += tree.has((i * 0x9E3779B1) >>> 21) ? 1 : 0;
        }
        return sum;
    }

    private static int operation(String which, int value) {
        switch (which) {
            case "copied":
                return copied(value);
            case "cleared":
                return cleared(value);
            case "rewritten":
                return rewritten(value);
            case "searched":
                return searched(value);
            case "bookkeeping":
                return bookkeeping(value);
            case "scaffolding":
                return scaffolding(value);
            case "repeated":
                return repeated(value);
            case "grown":
                return grown(value);
            case "allocated":
                return allocated(value);
            case "kept":
                return kept(value);
            default:
                return walk(value);
        }
    }

    public static void main(String[] args) {
        String which = args[0];
        for (int i = 0; i < COUNT; i++) {
            numbers[i] = i;
            sums[i] = 1000L;
            bytes[i] = (byte) (i * 7);
            list.add(i);
            declarations[i] = new Declaration();
            declarations[i].name = i;
        }
        tree = Tree.of(0, COUNT);
        Workload.repeat(Arrays.copyOfRange(args, 1, args.length), value -> operation(which, value));
    }
}
