/**
 * Lists of small nodes that are made at two places, three in one for each in the other, and walked alike; beside
 * buffers, which are most of the bytes that are allocated and hardly accessed.
 *
 * Which place makes a node is drawn: in a fixed order it would go by where allocation buffers end, and older JVMs
 * sample what does not fit into one too often.
 */
final class NodeOrigins {
    private static final int NODES = 10_000;
    private static final int WALKS = 20;
    private static final int BUFFERS = 12;
    private static final int BUFFER_BYTES = 64 * 1024;

    private byte[] buffer; // Others could see it, so that the compiler has to allocate it.
    private int buffers;
    private int drawn = 1;

    private NodeOrigins() {}

    private static final class Node {
        final int number;
        final Node next;

        Node(int number, Node next) {
            this.number = number;
            this.next = next;
        }
    }

    private static Node makeMost(int number, Node next) {
        return new Node(number, next);
    }

    private static Node makeSome(int number, Node next) {
        return new Node(number, next);
    }

    private void fill() {
        for (int i = 0; i < BUFFERS; i++) {
            buffer = new byte[BUFFER_BYTES];
            buffer[i] = 1;
            buffers += buffer[i];
        }
    }

    private boolean draw() {
        drawn = drawn * 1664525 + 1013904223; // Knuth, "The Art of Computer Programming", section 3.3.4
        return drawn >>> 30 == 3;
    }

    private Node list(int first) {
        Node list = null;

        for (int i = 0; i < NODES; i++) {
            list = draw() ? makeSome(first + i, list) : makeMost(first + i, list);
        }
        return list;
    }

    private static int walk(Node list) {
        int sum = 0;

        for (Node node = list; node != null; node = node.next) {
            sum += node.number;
        }
        return sum;
    }

    private int round(int value) {
        Node list = list(value);
        int sum = value;

        fill();
        for (int i = 0; i < WALKS; i++) {
            sum += walk(list);
        }
        return sum + buffers;
    }

    public static void main(String[] args) {
        Workload.repeat(args, new NodeOrigins()::round);
    }
}
