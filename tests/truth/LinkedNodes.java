/**
 * A list of nodes in random order of memory is followed. In between, the second and third of every twenty nodes change
 * places, which changes the links of three nodes: 17 of 20 loads of links are silent.
 *
 * Not more of them, because the changes take time that is not the program's own: a collector's store barrier loads, too,
 * and what it loads is reported apart (two fifths of that phase's samples with G1 on JDK 25).
 */
final class LinkedNodes {
    private static final int N = 20_000;
    private static final int GROUP = 20;

    private LinkedNodes() {}

    static final class Node {
        Node next;
    }

    static long follow(Node first) {
        Node node = first;
        for (int i = 0; i < N; i++) {
            node = node.next;
        }
        return node.hashCode();
    }

    static long link(Node[] nodes, Node[] next) {
        for (int i = 0; i < nodes.length; i++) {
            nodes[i].next = next[i];
        }
        return nodes.length;
    }

    public static void main(String[] args) {
        Node[] nodes = new Node[N];
        for (int i = 0; i < N; i++) {
            nodes[i] = new Node();
        }
        int[] order = Truth.shuffled(N);
        for (int i = 0; i < N; i++) {
            nodes[order[i]].next = nodes[order[(i + 1) % N]];
        }
        Node[] changing = new Node[N / GROUP * 3];
        Node[] one = new Node[changing.length];
        Node[] other = new Node[changing.length];
        for (int i = 0, k = 0; i < N; i += GROUP) {
            Node a = nodes[order[i]];
            Node b = a.next;
            Node c = b.next;
            Node d = c.next;
            for (Node[] link : new Node[][] {{a, b, c}, {b, c, d}, {c, d, b}}) {
                changing[k] = link[0];
                one[k] = link[1];
                other[k++] = link[2];
            }
        }
        new Truth()
            .phase("follow", round -> follow(nodes[order[0]]))
            .loads(N, 1 - 3.0 / GROUP)
            .phase("change", round -> link(changing, (round & 1) == 0 ? one : other))
            .loads(2.0 * changing.length, 1)
            .run();
    }
}
