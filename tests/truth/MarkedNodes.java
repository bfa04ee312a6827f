/**
 * The nodes of a list get marks that stay the same, in a loop that ends with the list; then comes a loop that accesses nothing,
 * and then a fill whose values are always new.
 */
final class MarkedNodes {
    private static final int NODES = 1000;
    private static final int N = 2048;
    private static final int STEPS = 2048;
    private static final int ROUNDS = 20;
    private static final int[][] MIXES = {{3, 2, 1}, {3, 6, 1}, {3, 2, 3}};

    private MarkedNodes() {}

    private static final class Node {
        Node next;
        int mark;
    }

    static void mark(Node first) {
        int x = 1;
        for (Node node = first; node != null; node = node.next) {
            x = x * 5 + 1;
            node.mark = x;
        }
    }

    static int compute(int seed) {
        int x = seed;
        for (int i = 0; i < STEPS; i++) {
            x = (x ^ x >>> 7) * 31;
        }
        return x;
    }

    static void fill(int[] a, int value) {
        int x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
    }

    static long work(Node first, int[] a, int[] times, long round) {
        int marks = times[0];
        int steps = times[1];
        int fills = times[2];
        int x = (int) round;
        for (int r = 0; r < ROUNDS; r++) {
            for (int k = 0; k < marks; k++) {
                mark(first);
            }
            for (int k = 0; k < steps; k++) {
                x = compute(x);
            }
            for (int k = 0; k < fills; k++) {
                fill(a, x + k);
            }
        }
        return x;
    }

    public static void main(String[] args) {
        Node[] nodes = new Node[NODES];
        for (int i = 0; i < NODES; i++) {
            nodes[i] = new Node();
        }
        int[] order = Truth.shuffled(NODES);
        for (int i = 0; i + 1 < NODES; i++) {
            nodes[order[i]].next = nodes[order[i + 1]];
        }
        int[] a = new int[N];
        new Truth()
            .mixes((times, round) -> work(nodes[order[0]], a, times, round), MIXES)
            .loop("mark")
            .stores(1.0 * NODES * ROUNDS, 1, 1)
            .loop("compute")
            .loop("fill")
            .stores(1.0 * N * ROUNDS, 1, 0)
            .run();
    }
}
