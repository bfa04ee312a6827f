import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Derby: point look-ups, updates and a grouped scan on a table in memory. */
final class DerbyQueries {
    private static final int ROWS = 2000;
    private static final int LOOKUPS = 20;

    private final PreparedStatement select;
    private final PreparedStatement update;
    private final PreparedStatement group;

    private DerbyQueries(Connection connection) throws SQLException {
        connection.createStatement().execute("create table t(id int primary key, class int, v bigint)");
        try (PreparedStatement insert = connection.prepareStatement("insert into t values(?, ?, ?)")) {
            for (int i = 0; i < ROWS; i++) {
                insert.setInt(1, i);
                insert.setInt(2, i % 17);
                insert.setLong(3, i * 31L);
                insert.execute();
            }
        }
        select = connection.prepareStatement("select v from t where id = ?");
        update = connection.prepareStatement("update t set v = v + 1 where id = ?");
        group = connection.prepareStatement("select class, sum(v) from t where id < 500 group by class");
    }

    private int round(int value) {
        int sum = value;
        try {
            for (int i = 0; i < LOOKUPS; i++) {
                int id = Math.floorMod(value * 31 + i * 97, ROWS);
                select.setInt(1, id);
                try (ResultSet r = select.executeQuery()) {
                    r.next();
                    sum += (int) r.getLong(1);
                }
                update.setInt(1, id);
                sum += update.executeUpdate();
            }
            try (ResultSet r = group.executeQuery()) {
                while (r.next()) {
                    sum += r.getInt(1);
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return sum;
    }

    public static void main(String[] args) throws SQLException {
        System.setProperty("derby.stream.error.file", "/dev/null");
        try (Connection connection = DriverManager.getConnection("jdbc:derby:memory:bench;create=true")) {
            Workload.repeat(args, new DerbyQueries(connection)::round);
        }
    }
}
