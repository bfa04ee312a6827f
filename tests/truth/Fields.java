/**
 * A field of many objects is set three times, then loaded: two of the three stores are dead, and the second
 * repeats the value of the first.
 */
final class Fields {
    private static final int N = 50_000;

    private Fields() {}

    static final class Node {
        long value;
    }

    static long set(Node[] nodes, long value) {
        for (int i = 0; i < N; i++) {
            nodes[i].value = value;
        }
        return value;
    }

    static long sum(Node[] nodes) {
        long sum = 0;
        for (int i = 0; i < N; i++) {
            sum += nodes[i].value;
        }
        return sum;
    }

    public static void main(String[] args) {
        Node[] nodes = new Node[N];
        for (int i = 0; i < N; i++) {
            nodes[i] = new Node();
        }
        new Truth()
            .phase("first", round -> set(nodes, 2 * round))
            .stores(N, 1, 1)
            .phase("second", round -> set(nodes, 2 * round))
            .stores(N, 1, 0)
            .phase("third", round -> set(nodes, 2 * round + 1))
            .stores(N, 0, 0)
            .phase("sum", round -> sum(nodes))
            .run();
    }
}
