import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/** H2: queries on a table in memory. */
final class H2Queries {
    private static final int ROWS = 5000;
    private static final int LOOKUPS = 50;

    private H2Queries() {}

    public static void main(String[] args) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:bench")) {
            Workload.repeat(args, new TableQueries(connection, ROWS, LOOKUPS)::round);
        }
    }
}
