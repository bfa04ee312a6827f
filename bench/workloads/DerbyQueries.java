import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/** Derby: queries on a table in memory. */
final class DerbyQueries {
    private static final int ROWS = 2000;
    private static final int LOOKUPS = 20;

    private DerbyQueries() {}

    public static void main(String[] args) throws SQLException {
        System.setProperty("derby.stream.error.file", "/dev/null");
        try (Connection connection = DriverManager.getConnection("jdbc:derby:memory:bench;create=true")) {
            Workload.repeat(args, new TableQueries(connection, ROWS, LOOKUPS)::round);
        }
    }
}
