import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Random;

/** Each turn of these has its result; whether it is the same one again is what tells them apart. */
final class Repeats {
    private static final int N = 8192;
    private static final int KEYS = 64;
    private static final int RING = 16;
    private static final int CHILDREN = 512;
    private static final int TIMES = 64;

    private Repeats() {}

    /** A node of a document. */
    static final class Node {
        Node parent;
        Node firstChild;
        Node next;
    }

    /** A bigger computation than a compiler leaves inline in all its copies of a loop. */
    private static int mix(int key) {
        int x = key;
        x = (x ^ x >>> 16) * 0x45d9f3b;
        x = (x ^ x >>> 13) / (1 + (key & 7));
        x = (x ^ x >>> 16) / (1 + (key & 15));
        return x ^ x >>> 11;
    }

    /** Few different keys, each many times. */
    static int queue(int[] keys, int value) {
        int sum = value;
        for (int i = 0; i < keys.length; i++) { // LOOP queue
            sum = sum * 31 + mix(keys[i]);
        }
        return sum;
    }

    /** An index that only says how far the loop is goes into each turn, too: not seen. */
    static int ring(int[] values, int count, int value) {
        int sum = value;
        for (int i = 0; i < count; i++) { // LOOP ring
            sum = sum * 31 + mix(values[i & (RING - 1)]);
        }
        return sum;
    }

    static int scan(int[] a, int length) {
        int hash = 1;
        for (int i = 0; i < length; i++) { // LOOP scan
            hash = hash * 31 + a[i];
        }
        return hash;
    }

    /** Which of its parent's children a node is. */
    static int index(Node node) {
        int count = 0;
        for (Node n = node.parent.firstChild; n != node; n = n.next) { // LOOP siblings
            count++;
        }
        return count;
    }

    static void write(OutputStream out, byte[] bytes) throws IOException {
        for (byte b : bytes) { // LOOP write
            out.write(b);
        }
    }

    private static int siblings(Node parent, int value) {
        int sum = value;
        for (Node n = parent.firstChild; n != null; n = n.next) {
            sum += index(n);
        }
        return sum;
    }

    private static Node family() {
        Node parent = new Node();
        for (int i = 0; i < CHILDREN; i++) {
            Node child = new Node();
            child.parent = parent;
            child.next = parent.firstChild;
            parent.firstChild = child;
        }
        return parent;
    }

    private static int[] numbers(int bound) {
        return new Random(42).ints(N, 0, bound).toArray();
    }

    private static int writes(OutputStream out, byte[] bytes, int value) {
        try {
            write(out, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return value + 1;
    }

    /** An element more each time, from N / 2 on, and the whole hashed again. */
    private static int growing(int[] a, int value) {
        int hash = value;
        for (int length = N / 2; length < N / 2 + TIMES; length++) {
            a[length] = hash;
            hash = scan(a, length + 1);
        }
        return hash;
    }

    private static int times(int value, java.util.function.IntUnaryOperator once) {
        int last = value;
        for (int t = 0; t < TIMES; t++) {
            last = once.applyAsInt(last);
        }
        return last;
    }

    /** The elements at every second place get other values. */
    private static void change(int[] a, int step, int value) {
        int x = value;
        for (int i = 0; i < a.length; i += step) {
            x = x * 1_103_515_245 + 12_345;
            a[i] = x;
        }
    }

    public static void main(String[] args) throws IOException {
        int[] keys = numbers(KEYS);
        int[] a = numbers(Integer.MAX_VALUE);
        switch (args[0]) {
            case "queue":
                Program.repeat(value -> queue(keys, value));
                break;
            case "ring":
                Program.repeat(value -> ring(keys, N, value));
                break;
            case "same":
                Program.repeat(value -> times(value, v -> v + scan(a, N)));
                break;
            case "growing":
                Program.repeat(value -> growing(a, value));
                break;
            case "half":
                Program.repeat(value -> times(value, v -> {
                    change(a, 2, v);
                    return v + scan(a, N);
                }));
                break;
            case "fresh":
                Program.repeat(value -> times(value, v -> v + scan(a.clone(), N)));
                break;
            case "different":
                Program.repeat(value -> times(value, v -> {
                    change(a, 1, v);
                    return v + scan(a, N);
                }));
                break;
            case "siblings":
                Node parent = family();
                Program.repeat(value -> siblings(parent, value));
                break;
            case "write":
                OutputStream out = new FileOutputStream("/dev/null");
                byte[] bytes = new byte[1024];
                Program.repeat(value -> writes(out, bytes, value));
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
