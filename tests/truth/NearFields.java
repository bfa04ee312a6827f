/**
 * A float field and an int field of the same objects get constants that alternate, of the same bits: those of 1000 and 1005. The
 * float is the same within 1%, the int is not. C2 stores a constant as an integer, whatever the field is.
 */
final class NearFields {
    private static final int N = 4096;
    private static final int PASSES = 100;

    private NearFields() {}

    static final class Node {
        float real;
        int whole;
    }

    static void thousand(Node[] nodes) {
        for (int i = 0; i < N; i++) {
            nodes[i].real = 1000f;
        }
    }

    static void more(Node[] nodes) {
        for (int i = 0; i < N; i++) {
            nodes[i].real = 1005f;
        }
    }

    static void wholeThousand(Node[] nodes) {
        for (int i = 0; i < N; i++) {
            nodes[i].whole = 0x447a0000;
        }
    }

    static void wholeMore(Node[] nodes) {
        for (int i = 0; i < N; i++) {
            nodes[i].whole = 0x447b4000;
        }
    }

    static long reals(Node[] nodes, long round) {
        for (int p = 0; p < PASSES; p++) {
            thousand(nodes);
            more(nodes);
        }
        return round;
    }

    static long wholes(Node[] nodes, long round) {
        for (int p = 0; p < PASSES; p++) {
            wholeThousand(nodes);
            wholeMore(nodes);
        }
        return round;
    }

    public static void main(String[] args) {
        if (Float.floatToRawIntBits(1000f) != 0x447a0000 || Float.floatToRawIntBits(1005f) != 0x447b4000) {
            throw new IllegalStateException("not the same bits");
        }
        Node[] nodes = new Node[N];
        for (int i = 0; i < N; i++) {
            nodes[i] = new Node();
        }
        new Truth()
            .phase("float", round -> reals(nodes, round))
            .stores(2.0 * N * PASSES, 1, 1)
            .phase("int", round -> wholes(nodes, round))
            .stores(2.0 * N * PASSES, 1, 0)
            .run();
    }
}
