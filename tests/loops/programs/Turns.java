import java.util.Random;

/** Loops of other types: no turn with a result, each turn with one, waiting, calls, a recursion instead of a loop. */
final class Turns {
    private static final int N = 8192;
    private static final int TIMES = 64;
    /** One shape of so many is large. */
    private static final int RARE = 4096;

    /** One writer. */
    private static volatile int turn;

    private Turns() {}

    /** A list of which one knows the first. */
    static final class Node {
        Node next;
    }

    /** Of four classes, so that a call is not inlined. */
    interface Shape {
        int size();

        void grow();
    }

    static class Square implements Shape {
        int side;

        @Override
        public int size() {
            return side;
        }

        @Override
        public void grow() {
            side++;
        }
    }

    static final class Oblong extends Square {
        @Override
        public int size() {
            return side + 1;
        }

        @Override
        public void grow() {
            side += 2;
        }
    }

    static final class Round extends Square {
        @Override
        public int size() {
            return side + 2;
        }

        @Override
        public void grow() {
            side += 3;
        }
    }

    static final class Oval extends Square {
        @Override
        public int size() {
            return side + 3;
        }

        @Override
        public void grow() {
            side += 4;
        }
    }

    /** To the end, for nothing. */
    static void walk(Node first) {
        Node n = first;
        while (n != null) { // LOOP walk
            n = n.next;
        }
    }

    static int sum(int[] a) {
        int sum = 0;
        for (int i = 0; i < a.length; i++) { // LOOP sum
            sum += a[i];
        }
        return sum;
    }

    static void fill(int[] a, int[] from, int value) {
        for (int i = 0; i < a.length; i++) { // LOOP fill
            a[i] = from[i] ^ value;
        }
    }

    static int pure(Shape[] shapes, int limit) {
        int found = limit;
        for (int i = 0; i < shapes.length; i++) { // LOOP pure
            if (shapes[i].size() > limit) {
                found = i;
            }
        }
        return found;
    }

    static void effect(Shape[] shapes) {
        for (int i = 0; i < shapes.length; i++) { // LOOP effect
            shapes[i].grow();
        }
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    /** Until the other thread is done. */
    static void await(int mine) {
        while (turn != mine) { // LOOP await
            Thread.onSpinWait();
        }
    }

    private static int waits(int value) {
        turn = 1;
        await(0);
        return value + 1;
    }

    /** What is waited for: that another thread has computed something. */
    private static void answer() {
        int value = 1;
        while (true) {
            if (turn == 1) {
                for (int i = 0; i < 200_000; i++) {
                    value = value * 1_103_515_245 + (i ^ value >>> 7);
                }
                Program.sink = value;
                turn = 0;
            }
        }
    }

    private static Shape[] shapes() {
        Random random = new Random(42);
        Shape[] shapes = new Shape[N];
        for (int i = 0; i < N; i++) {
            Square[] each = {new Square(), new Oblong(), new Round(), new Oval()};
            each[0].side = i % RARE == 0 ? 100 : 0;
            shapes[i] = each[i % RARE == 0 ? 0 : random.nextInt(each.length)];
        }
        return shapes;
    }

    private static int times(int value, java.util.function.IntUnaryOperator once) {
        int last = value;
        for (int t = 0; t < TIMES; t++) {
            last = once.applyAsInt(last);
        }
        return last;
    }

    public static void main(String[] args) {
        int[] a = new int[N];
        int[] b = new int[N];
        switch (args[0]) {
            case "walk":
                Node last = null;
                for (int i = 0; i < N; i++) {
                    Node node = new Node();
                    node.next = last;
                    last = node;
                }
                Node first = last;
                Program.repeat(value -> times(value, v -> {
                    walk(first);
                    return v + 1;
                }));
                break;
            case "sum":
                Program.repeat(value -> times(value, v -> {
                    a[v & (N - 1)] = v;
                    return sum(a) + 1;
                }));
                break;
            case "fill":
                Program.repeat(value -> times(value, v -> {
                    fill(a, b, v);
                    return a[v & (N - 1)] + 1;
                }));
                break;
            case "pure":
                Shape[] some = shapes();
                Program.repeat(value -> times(value, v -> v + pure(some, 50)));
                break;
            case "effect":
                Shape[] others = shapes();
                Program.repeat(value -> times(value, v -> {
                    effect(others);
                    return v + others[0].size();
                }));
                break;
            case "fib":
                Program.repeat(value -> value + fib(25 + (value >>> 31)));
                break;
            case "wait":
                Thread other = new Thread(Turns::answer);
                other.setDaemon(true);
                other.start();
                Program.repeat(Turns::waits);
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
