import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayDeque;

/** Loops along lists and queues, calls in them, and methods that call themselves. Compiled with mix2 and consume not inlined. */
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

    static int called(Item first, int salt, int sum) {
        for (Item i = first; i != null; i = i.next) {
            sum += mix2(i.key, salt);
        }
        return sum;
    }

    static int calledWith(Item first, int sum) {
        for (Item i = first; i != null; i = i.next) {
            sum += consume(i);
        }
        return sum;
    }

    static int consume(Item item) {
        return mix(item.key) + item.other;
    }

    static int drained(ArrayDeque<Item> queue, int sum) {
        Item i;
        while ((i = queue.poll()) != null) {
            sum += mix(i.key);
        }
        return sum;
    }

    static void written(FileOutputStream out, Item first) throws IOException {
        for (Item i = first; i != null; i = i.next) {
            out.write(i.key);
        }
    }

    static long binomial(int n, int k) {
        return k == 0 || k == n ? 1 : binomial(n - 1, k - 1) + binomial(n - 1, k);
    }

    int depth(Item item) {
        return item == null ? 0 : 1 + Math.max(depth(item.left), depth(item.right));
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
