import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A table, and point look-ups, updates and a grouped scan on it. */
final class TableQueries {
    private final int rows;
    private final int lookups;

    private final PreparedStatement select;
    private final PreparedStatement update;
    private final PreparedStatement group;

    TableQueries(Connection connection, int rows, int lookups) throws SQLException {
        fill(connection, rows);
        this.rows = rows;
        this.lookups = lookups;
        select = connection.prepareStatement("select v from t where id = ?");
        update = connection.prepareStatement("update t set v = v + 1 where id = ?");
        group = connection.prepareStatement("select class, sum(v) from t where id < 500 group by class");
    }

    /** Makes table t and its rows. */
    static void fill(Connection connection, int rows) throws SQLException {
        connection.createStatement().execute("create table t(id int primary key, class int, v bigint)");
        try (PreparedStatement insert = connection.prepareStatement("insert into t values(?, ?, ?)")) {
            for (int i = 0; i < rows; i++) {
                insert.setInt(1, i);
                insert.setInt(2, i % 17);
                insert.setLong(3, i * 31L);
                insert.execute();
            }
        }
    }

    int round(int value) {
        int sum = value;
        try {
            for (int i = 0; i < lookups; i++) {
                int id = Math.floorMod(value * 31 + i * 97, rows);
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
}
