import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Asks a DatabaseServer: look-ups, one in ten an update. Arguments: its port, and the number of connections, each with
 * a thread that waits for an answer and asks again. For each line that it reads it prints what it got since the line
 * before: "answers N seconds S p99 S failed 0".
 */
final class DatabaseClient {
    private static final int BUCKET_NS = 10_000;
    /** The last one has all of a second and more. */
    private static final int BUCKETS = 100_001;

    /** How many answers took so long. */
    private static volatile AtomicIntegerArray times = new AtomicIntegerArray(BUCKETS);

    private DatabaseClient() {}

    private static void ask(PreparedStatement select, PreparedStatement update, int n) throws SQLException {
        int id = Math.floorMod(n * 97, DatabaseServer.ROWS);
        if (n % 10 == 0) {
            update.setInt(1, id);
            update.executeUpdate();
            return;
        }
        select.setInt(1, id);
        try (ResultSet r = select.executeQuery()) {
            r.next();
        }
    }

    private static void load(String port, int seed) {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:tcp://127.0.0.1:" + port + "/mem:bench");
            PreparedStatement select = connection.prepareStatement("select class, v from t where id = ?");
            PreparedStatement update = connection.prepareStatement("update t set v = v + 1 where id = ?")) {
            for (int n = seed; ; n++) {
                long start = System.nanoTime();
                ask(select, update, n);
                long buckets = (System.nanoTime() - start) / BUCKET_NS;
                times.incrementAndGet((int) Math.min(buckets, BUCKETS - 1));
            }
        } catch (SQLException e) {
            e.printStackTrace();
            System.exit(1); // What asks for figures sees that there are none.
        }
    }

    private static long sum(AtomicIntegerArray counts) {
        long sum = 0;
        for (int i = 0; i < BUCKETS; i++) {
            sum += counts.get(i);
        }
        return sum;
    }

    /** Below it are 99 of 100. */
    private static double percentile99(AtomicIntegerArray counts, long answers) {
        long seen = 0;
        int at = 0;
        while (at < BUCKETS && seen < answers * 0.99) {
            seen += counts.get(at++);
        }
        return at * (BUCKET_NS / 1e9);
    }

    public static void main(String[] args) throws IOException {
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            int seed = i * 1000;
            Thread thread = new Thread(() -> load(args[0], seed));
            thread.setDaemon(true);
            thread.start();
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        long start = System.nanoTime();
        while (in.readLine() != null) {
            long end = System.nanoTime();
            AtomicIntegerArray counts = times;
            times = new AtomicIntegerArray(BUCKETS);
            long answers = sum(counts);
            System.out.println(
                "answers " + answers + " seconds " + (end - start) / 1e9 + " p99 " + percentile99(counts, answers)
                    + " failed 0");
            start = end;
        }
    }
}
