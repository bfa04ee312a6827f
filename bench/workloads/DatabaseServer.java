import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.h2.tools.Server;

/** H2 as a server, with a table in memory that DatabaseClient asks. Prints "listening PORT". */
final class DatabaseServer {
    static final int ROWS = 5000;

    private DatabaseServer() {}

    public static void main(String[] args) throws SQLException, InterruptedException {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:bench")) {
            connection.createStatement().execute("create table t(id int primary key, class int, v bigint)");
            try (PreparedStatement insert = connection.prepareStatement("insert into t values(?, ?, ?)")) {
                for (int i = 0; i < ROWS; i++) {
                    insert.setInt(1, i);
                    insert.setInt(2, i % 17);
                    insert.setLong(3, i * 31L);
                    insert.execute();
                }
            }
            // The table lasts as long as this connection.
            Server server = Server.createTcpServer("-tcpPort", "0").start();
            System.out.println("listening " + server.getPort());
            Thread.currentThread().join();
        }
    }
}
