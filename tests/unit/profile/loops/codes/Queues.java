import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayDeque;

/**
 * Loops along lists and queues, calls in them, and methods that call themselves. Compiled with those that have a comment, mix2,
 * consume and next not inlined.
 */
public final class Queues {
    static final int N = 2048;

    static class Item {
        int key;
        int other;
        Item next;
        Item left;
        Item right;
    }

    static int mix(int key) {
        int x = key;
        x = (x ^ x >>> 16) * 0x45d9f3b;
        x = (x ^ x >>> 13) / (1 + (key & 7));
        x = (x ^ x >>> 16) / (1 + (key & 15));
        return x ^ x >>> 11;
    }

    static int mix2(int key, int more) {
        return mix(key) + more;
    }

    /** The keys are inputs; the sum is not. */
    static int linked(Item first, int sum) {
        for (Item i = first; i != null; i = i.next) {
            sum = sum * 31 + mix(i.key);
        }
        return sum;
    }

    /** Of so little work that nobody would keep what came of it. */
    static int little(Item first, int sum) {
        for (Item i = first; i != null; i = i.next) {
            sum += i.key;
        }
        return sum;
    }

    /** What calls are handed that changes is what is loaded. */
    static int called(Item first, int salt, int sum) {
        for (Item i = first; i != null; i = i.next) {
            sum += mix2(i.key, salt);
        }
        return sum;
    }

    /** ... is the element itself. */
    static int calledWith(Item first, int sum) {
        for (Item i = first; i != null; i = i.next) {
            sum += consume(i);
        }
        return sum;
    }

    static int consume(Item item) {
        return mix(item.key) + item.other;
    }

    /** The queue's own place is none. */
    static int drained(ArrayDeque<Item> queue, int sum) {
        Item i;
        while ((i = queue.poll()) != null) {
            sum += mix(i.key);
        }
        return sum;
    }

    /** What comes of it is output, and all it is. */
    static void written(FileOutputStream out, Item first) throws IOException {
        for (Item i = first; i != null; i = i.next) {
            out.write(mix(mix(mix(i.key))));
        }
    }

    int at;

    int next() {
        at = (at + 7) & 1023;
        return at & 63;
    }

    /** Calls that are handed nothing new give what is. */
    static int asked(Queues queue, int sum) {
        int x;
        while ((x = queue.next()) != 56) {
            sum = sum * 31 + mix(x);
        }
        return sum;
    }

    /** Counts in memory, and adds up there: neither is an input. */
    int total;

    /** A number of turns that is in memory goes on as one in a register does. */
    static void kept(Queues queue, Item first) {
        for (Item i = first; i != null; i = i.next) {
            queue.at++;
            queue.total += mix(i.key);
        }
    }

    /** What is stored where a loaded number says. */
    static void histogram(Item first, int[] counts) {
        for (Item i = first; i != null; i = i.next) {
            counts[i.key] = i.other / (1 + i.key);
        }
    }

    /** A number of the turn goes into the call: no turn is another one's. */
    static int numbered(Item first, int sum) {
        int n = 0;
        for (Item i = first; i != null; i = i.next) {
            sum += mix2(i.key, n++);
        }
        return sum;
    }

    /** Of two numbers. */
    static long binomial(int n, int k) {
        return k == 0 || k == n ? 1 : binomial(n - 1, k - 1) + binomial(n - 1, k);
    }

    /** Its check for the receiver's class lies before it. */
    int depth(Item item) {
        return item == null ? 0 : 1 + Math.max(depth(item.left), depth(item.right));
    }

    /** What is in vectors cannot be told. */
    static double power(double x, int n) {
        return n == 0 ? 1 : x * power(1 / x, n - 1) + 1;
    }

    private static Item tree(int depth) {
        Item item = new Item();
        if (depth > 0) {
            item.left = tree(depth - 1);
            item.right = tree(depth - 1);
        }
        return item;
    }

    public static void main(String[] args) throws IOException {
        Item first = null;
        for (int i = 0; i < N; i++) {
            Item item = new Item();
            item.key = i & 63;
            item.other = i & 7;
            item.next = first;
            first = item;
        }
        Item list = first;
        Item tree = tree(10);
        Queues queues = new Queues();
        ArrayDeque<Item> queue = new ArrayDeque<>();
        FileOutputStream out = new FileOutputStream("/dev/null");
        int[] counts = new int[64];
        Workload.repeat(new String[0], value -> {
            int sum = value;
            switch (args[0]) {
                case "linked":
                    return linked(list, sum);
                case "little":
                    return little(list, sum);
                case "called":
                    return called(list, value & 7, sum);
                case "calledWith":
                    return calledWith(list, sum);
                case "drained":
                    for (Item i = list; i != null; i = i.next) {
                        queue.add(i);
                    }
                    return drained(queue, sum);
                case "written":
                    try {
                        written(out, list);
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                    return value + 1;
                case "asked":
                    return asked(queues, sum);
                case "kept":
                    kept(queues, list);
                    return queues.total + sum;
                case "histogram":
                    histogram(list, counts);
                    return counts[5] + sum;
                case "numbered":
                    return numbered(list, sum);
                case "power":
                    return (int) power(1.5 + sum % 2, 300) + sum;
                case "binomial":
                    return (int) binomial(14, 5 + (value >>> 31)) + value;
                case "depth":
                    return queues.depth(tree) + value;
                default:
                    throw new IllegalArgumentException(args[0]);
            }
        });
    }
}
