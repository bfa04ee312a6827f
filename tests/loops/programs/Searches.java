import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Loops of which the last turn has a result: 0*1?. What is looked for comes to lie at every place equally often, so a search of n
 * takes (n + 1) / 2 turns.
 */
final class Searches {
    private static final int N = 8192;
    private static final int FEW = 15;
    private static final int SEARCHES = 128;
    /** Odd, so that the places are each visited once in N searches. */
    private static final int STEP = 4093;

    private Searches() {}

    /** A list of which one knows the first. */
    static final class Node {
        final int key;
        Node next;

        Node(int key, Node next) {
            this.key = key;
            this.next = next;
        }
    }

    /** As a node of any number has: neither in order nor the same twice. */
    private static int key(int place) {
        return place * 7919;
    }

    static int array(int[] keys, int wanted) {
        for (int i = 0; i < keys.length; i++) { // LOOP array
            if (keys[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    static Node list(Node first, int wanted) {
        for (Node n = first; n != null; n = n.next) { // LOOP list
            if (n.key == wanted) {
                return n;
            }
        }
        return null;
    }

    /** What is looked for is never there, so the branch that ends the search is a trap. */
    static int miss(int[] keys, int wanted) {
        for (int i = 0; i < keys.length; i++) { // LOOP miss
            if (keys[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    /** Likewise; what compares is a method, which is inlined. */
    private static boolean matches(Node n, int wanted) {
        if (n.key != wanted) {
            return false;
        }
        return n.next != null;
    }

    static Node missCall(Node first, int wanted) {
        for (Node n = first; n != null; n = n.next) { // LOOP missCall
            if (matches(n, wanted)) {
                return n;
            }
        }
        return null;
    }

    /** Likewise; the search is told by a flag. */
    static boolean missFlag(Node first, int wanted) {
        boolean found = false;
        for (Node n = first; n != null && !found; n = n.next) { // LOOP missFlag
            if (n.key == wanted) {
                found = true;
            }
        }
        return found;
    }

    /** Likewise; objects that say themselves what they are equal to. */
    static int missEquals(Object[] keys, Object wanted) {
        for (int i = 0; i < keys.length; i++) { // LOOP missEquals
            if (wanted.equals(keys[i])) {
                return i;
            }
        }
        return -1;
    }

    private static int misses(java.util.function.IntPredicate search, int value) {
        int found = value;
        for (int s = 0; s < SEARCHES; s++) {
            found += search.test(-1 - s) ? 1 : 2;
        }
        return found;
    }

    static Integer iterator(List<Integer> keys, int wanted) {
        for (Integer key : keys) { // LOOP iterator
            if (key == wanted) {
                return key;
            }
        }
        return null;
    }

    static Integer map(Map<Integer, Integer> places, int wanted) {
        for (Map.Entry<Integer, Integer> e : places.entrySet()) { // LOOP map
            if (e.getValue() == wanted) {
                return e.getKey();
            }
        }
        return null;
    }

    static int few(int[] keys, int wanted) {
        for (int i = 0; i < keys.length; i++) { // LOOP few
            if (keys[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    /** Each of some is looked for in all, from its beginning, and all are the same the next time. */
    static int nested(int[] all, int[] some) {
        int sum = 0;
        for (int wanted : some) {
            for (int i = 0; i < all.length; i++) { // LOOP nested
                if (all[i] == wanted) {
                    sum += i;
                    break;
                }
            }
        }
        return sum;
    }

    /** Where the search that follows the one at a place finds what it looks for. */
    private static int next(int place) {
        return (place + STEP) & (N - 1);
    }

    private static int arrays(int[] keys, int value) {
        int place = value;
        for (int s = 0; s < SEARCHES; s++) {
            place = next(array(keys, keys[place & (N - 1)]));
        }
        return place;
    }

    private static int lists(Node first, int value) {
        int place = value & (N - 1);
        for (int s = 0; s < SEARCHES; s++) {
            place = next(place + (list(first, key(place)) == null ? 1 : 0));
        }
        return place;
    }

    private static int iterators(List<Integer> keys, int value) {
        int place = value & (N - 1);
        for (int s = 0; s < SEARCHES; s++) {
            place = next(place + (iterator(keys, key(place)) == null ? 1 : 0));
        }
        return place;
    }

    private static int maps(Map<Integer, Integer> places, int value) {
        int place = value & (N - 1);
        for (int s = 0; s < SEARCHES; s++) {
            place = next(place + (map(places, place) == null ? 1 : 0));
        }
        return place;
    }

    private static int fews(int[] keys, int value) {
        int place = value;
        for (int s = 0; s < SEARCHES * FEW; s++) {
            // At random: else all calls of this would be the same.
            place = place * 1_103_515_245 + 12_345 + few(keys, keys[(place >>> 16) % FEW]);
        }
        return place;
    }

    private static int[] keys(int count) {
        int[] keys = new int[count];
        for (int i = 0; i < count; i++) {
            keys[i] = key(i);
        }
        return keys;
    }

    private static Node nodes() {
        Node first = null;
        for (int i = N - 1; i >= 0; i--) {
            first = new Node(key(i), first);
        }
        return first;
    }

    public static void main(String[] args) {
        int[] keys = keys(N);
        List<Integer> boxed = new ArrayList<>();
        Map<Integer, Integer> places = new HashMap<>();
        for (int i = 0; i < N; i++) {
            boxed.add(key(i));
            places.put(key(i), i);
        }
        switch (args[0]) {
            case "array":
                Program.repeat(value -> arrays(keys, value));
                break;
            case "list":
                Node first = nodes();
                Program.repeat(value -> lists(first, value));
                break;
            case "iterator":
                Program.repeat(value -> iterators(boxed, value));
                break;
            case "map":
                Program.repeat(value -> maps(places, value));
                break;
            case "few":
                int[] little = keys(FEW);
                Program.repeat(value -> fews(little, value));
                break;
            case "miss":
                Program.repeat(value -> misses(wanted -> miss(keys, wanted) >= 0, value));
                break;
            case "missCall":
                Node called = nodes();
                Program.repeat(value -> misses(wanted -> missCall(called, wanted) != null, value));
                break;
            case "missFlag":
                Node flagged = nodes();
                Program.repeat(value -> misses(wanted -> missFlag(flagged, wanted), value));
                break;
            case "missEquals":
                Object[] objects = boxed.toArray();
                Program.repeat(value -> misses(wanted -> missEquals(objects, wanted) >= 0, value));
                break;
            case "nested":
                // Every 64th of them.
                int[] some = new int[N / 64];
                for (int i = 0; i < some.length; i++) {
                    some[i] = keys[64 * i + 32];
                }
                Program.repeat(value -> value + nested(keys, some));
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
