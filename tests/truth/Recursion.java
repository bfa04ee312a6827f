/**
 * A tree is walked by recursion: each node computes for long and stores what its next visit loads, three times: never dead.
 * Beside it a fill that nobody loads.
 */
final class Recursion {
    private static final int DEPTH = 8;
    private static final int NODES = (1 << DEPTH) - 1;
    private static final int N = 2048;
    private static final int ROUNDS = 4;
    private static final int[][] MIXES = {{1, 6}, {1, 18}};

    private Recursion() {}

    private static final class Node {
        final Node left;
        final Node right;
        long first;
        long second;
        long third;

        Node(int depth) {
            left = depth > 1 ? new Node(depth - 1) : null;
            right = depth > 1 ? new Node(depth - 1) : null;
        }
    }

    static long walk(Node node, long seed) {
        long x = Truth.slow(seed + node.first);
        node.first = x;
        x = Truth.slow(x + node.second);
        node.second = x;
        x = Truth.slow(x + node.third);
        node.third = x;
        if (node.left != null) {
            x = walk(node.left, x);
            x = walk(node.right, x);
        }
        return x;
    }

    static void fill(long[] a, long value) {
        long x = value;
        for (int i = 0; i < N; i++) {
            x = x * 5 + 1;
            a[i] = x;
        }
    }

    static long work(Node root, long[] a, int[] times, long round) {
        int fills = times[1];
        long x = round;
        for (int r = 0; r < ROUNDS; r++) {
            x = walk(root, x);
            for (int k = 0; k < fills; k++) {
                fill(a, x + k);
            }
        }
        return x;
    }

    public static void main(String[] args) {
        Node root = new Node(DEPTH);
        long[] a = new long[N];
        new Truth()
            .mixes((times, round) -> work(root, a, times, round), MIXES)
            .loop("walk")
            .stores(3.0 * NODES * ROUNDS, 0, 0)
            .loop("fill")
            .stores(1.0 * N * ROUNDS, 1, 0)
            .run();
    }
}
