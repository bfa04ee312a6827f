import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Random;

/** Each turn of these has its result; whether it is the same one again is what tells them apart. */
final class Repeats {
    private static final int N = 8192;
    private static final int KEYS = 64;
    /** What leaves so many of a number's values. */
    private static final int KEY_SHIFT = 26;
    private static final int DEPTH = 12;
    private static final int RING = 16;
    private static final int CHILDREN = 512;
    private static final int TIMES = 64;
    private static final int ROWS = 2048;
    private static final int COLUMNS = 8;
    private static int nextKey;
    /** That expressions are evaluated on. */
    private static int[] row;

    private Repeats() {}

    /** A node of a document. */
    static final class Node {
        Node parent;
        Node firstChild;
        Node next;
    }

    /** Of a queue, and there to be used again. */
    private static final class Item {
        int key;
        byte small;
        Item next;
    }

    private static final class Queue {
        private Item first;

        Item poll() {
            Item item = first;
            if (item != null) {
                first = item.next;
            }
            return item;
        }
    }

    private static final class Tree {
        int key;
        Tree left;
        Tree right;
    }

    /** Of an expression: a column of a row, or what is computed of two others. */
    private static final class Expression {
        final int column;
        final Expression left;
        final Expression right;

        Expression(int column, Expression left, Expression right) {
            this.column = column;
            this.left = left;
            this.right = right;
        }
    }

    /** A bigger computation than a compiler leaves inline in all its copies of a loop. */
    private static int mix(int key) {
        int x = key;
        x = (x ^ x >>> 16) * 0x45d9f3b;
        x = (x ^ x >>> 13) / (1 + (key & 7));
        x = (x ^ x >>> 16) / (1 + (key & 15));
        return x ^ x >>> 11;
    }

    /** Until it is empty. Few different keys, each many times, or all different. */
    static int queue(Queue queue, int value) {
        int sum = value;
        Item item = queue.poll();
        while (item != null) { // LOOP queue
            sum = sum * 31 + mix(item.key);
            item = queue.poll();
        }
        return sum;
    }

    /** As long as the key says, and nothing is loaded meanwhile. */
    private static int stretch(int key) {
        int x = key;
        for (int i = 40 + (key & 31); i > 0; i--) {
            x = (x ^ x >>> 16) * 0x45d9f3b ^ x >>> 7;
        }
        return x;
    }

    /** Likewise; the work is in a loop inside it, of a method that is inlined. */
    static int longQueue(Queue queue, int value) {
        int sum = value;
        Item item = queue.poll();
        while (item != null) { // LOOP longQueue
            sum = sum * 31 + stretch(item.key);
            item = queue.poll();
        }
        return sum;
    }

    /** A sum of what are few different values, since they are small. */
    static int bytes(Item first) {
        int sum = 0;
        for (Item item = first; item != null; item = item.next) { // LOOP bytes
            sum += item.small;
        }
        return sum;
    }

    /** All that is below, told by how one comes there. */
    static int hash(Tree tree, int way) {
        if (tree == null) {
            return way;
        }
        return mix(hash(tree.left, way * 31 + tree.key) ^ hash(tree.right, way * 37 + tree.key));
    }

    /** Of the row that it is at: the same expression each time, and another value. */
    static int evaluate(Expression e) {
        if (e.left == null) {
            return row[e.column];
        }
        return mix(evaluate(e.left) * 31 + evaluate(e.right));
    }

    private static Expression expression(int depth) {
        return depth == 0 ? new Expression(nextKey++ & (COLUMNS - 1), null, null)
            : new Expression(0, expression(depth - 1), expression(depth - 1));
    }

    private static int evaluations(Expression e, int[][] rows, int value) {
        int sum = value;
        for (int[] next : rows) {
            row = next;
            sum += evaluate(e);
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

    /** With what was told beforehand. */
    static int keyed(int[] a, int key) {
        int hash = 1;
        for (int i = 0; i < a.length; i++) { // LOOP keyed
            hash = hash * 31 + (a[i] ^ key);
        }
        return hash;
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

    static void write(OutputStream out, Item first) throws IOException {
        for (Item item = first; item != null; item = item.next) { // LOOP write
            out.write(item.small);
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

    private static Item items() {
        Item first = null;
        for (int i = 0; i < N; i++) {
            Item item = new Item();
            item.next = first;
            first = item;
        }
        return first;
    }

    /** The same number of different keys each time, in another order. */
    private static int refill(Item first, int value) {
        int x = value;
        for (Item item = first; item != null; item = item.next) {
            x = x * 1_103_515_245 + 12_345;
            item.key = x >>> KEY_SHIFT;
            item.small = (byte) (x >>> KEY_SHIFT);
        }
        return x;
    }

    /** None again for long. */
    private static int refillDifferent(Item first, int value) {
        int x = value;
        for (Item item = first; item != null; item = item.next) {
            x += 0x9e3779b9;
            item.key = x;
        }
        return x;
    }

    private static void longQueues() {
        Item items = items();
        Queue queue = new Queue();
        int[] last = {1};
        Program.repeat(value -> {
            last[0] = refill(items, last[0]);
            queue.first = items;
            return longQueue(queue, value);
        });
    }

    private static void queues(boolean different) {
        Item items = items();
        Queue queue = new Queue();
        int[] last = {1};
        Program.repeat(value -> {
            last[0] = different ? refillDifferent(items, last[0]) : refill(items, last[0]);
            queue.first = items;
            return queue(queue, value);
        });
    }

    private static void sums() {
        Item items = items();
        int[] last = {1};
        Program.repeat(value -> {
            last[0] = refill(items, last[0]);
            return value + bytes(items);
        });
    }

    private static Tree tree(int depth, int key) {
        if (depth == 0) {
            return null;
        }
        Tree tree = new Tree();
        tree.key = key;
        tree.left = tree(depth - 1, 2 * key);
        tree.right = tree(depth - 1, 2 * key + 1);
        return tree;
    }

    private static int writes(OutputStream out, Item items, int value) {
        try {
            write(out, items);
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
        int[] a = numbers(Integer.MAX_VALUE);
        switch (args[0]) {
            case "queue":
                queues(false);
                break;
            case "distinct":
                queues(true);
                break;
            case "longQueue":
                longQueues();
                break;
            case "bytes":
                sums();
                break;
            case "tree":
                Tree tree = tree(DEPTH, 1);
                Program.repeat(value -> hash(tree, value));
                break;
            case "evaluate":
                Expression e = expression(3);
                int[][] rows = new int[ROWS][];
                for (int i = 0; i < ROWS; i++) {
                    rows[i] = new Random(i).ints(COLUMNS).toArray();
                }
                Program.repeat(value -> evaluations(e, rows, value));
                break;
            case "keyed":
                // A key that is made of hashes comes to be the same one again.
                Program.repeat(value -> times(value, v -> v + keyed(a, nextKey++)));
                break;
            case "ring":
                int[] keys = numbers(KEYS);
                // Others each time: else an instance is as the one before.
                Program.repeat(value -> {
                    change(keys, 1, value);
                    return ring(keys, N, value);
                });
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
                Item items = items();
                Program.repeat(value -> writes(out, items, value));
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
