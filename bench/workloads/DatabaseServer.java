import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.h2.tools.Server;

/** H2 as a server, with a table in memory that DatabaseClient asks. Prints "listening PORT". */
final class DatabaseServer {
    static final int ROWS = 5000;

    private DatabaseServer() {}

    public static void main(String[] args) throws SQLException, InterruptedException {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:bench")) {
            TableQueries.fill(connection, ROWS);
            // The table lasts as long as this connection.
            Server server = Server.createTcpServer("-tcpPort", "0").start();
            System.out.println("listening " + server.getPort());
            Thread.currentThread().join();
        }
    }
}
