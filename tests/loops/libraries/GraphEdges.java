import java.util.HashMap;
import java.util.Map;
import org.jgrapht.UndirectedGraph;
import org.jgrapht.graph.DefaultEdge;
import org.jgrapht.graph.SimpleGraph;

/**
 * jgrapht 0.8: AbstractBaseGraph.UndirectedSpecifics.getEdge looks through all edges of a vertex. One of the graph's has an edge to
 * each other. Repaired: the edges are in a map.
 */
final class GraphEdges {
    private static final int VERTICES = 8000;
    private static final int QUERIES = 100;

    private GraphEdges() {}

    public static void main(String[] args) {
        boolean repaired = args.length > 0;
        UndirectedGraph<Integer, DefaultEdge> graph = new SimpleGraph<>(DefaultEdge.class);
        Map<Integer, DefaultEdge> edges = new HashMap<>();
        Integer[] vertices = new Integer[VERTICES];
        for (int i = 0; i < VERTICES; i++) {
            vertices[i] = 1_000_000 + i;
            graph.addVertex(vertices[i]);
            if (i > 0) {
                edges.put(vertices[i], graph.addEdge(vertices[0], vertices[i]));
            }
        }
        Program.repeat(value -> {
            int found = value;
            for (int q = 0; q < QUERIES; q++) {
                Integer to = vertices[VERTICES / 2 + Math.floorMod(value * 31 + q * 1021, VERTICES / 2)];
                found += (repaired ? edges.get(to) : graph.getEdge(vertices[0], to)) != null ? 1 : 2;
            }
            return found;
        });
    }
}
