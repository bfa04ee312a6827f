import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The JDK's own HTTP server, each exchange on a virtual thread of its own, and virtual threads of the same JVM that ask
 * it over connections that stay. For JDK 21 and later; compiled for older ones, which know no such executor.
 */
final class VirtualHttp {
    private static final int CLIENTS = 8;
    private static final int REQUESTS = 4;
    private static final byte[] PAGE = "<p>as it is</p>".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private static ExecutorService executor;
    private static final Socket[] sockets = new Socket[CLIENTS];
    private static final InputStream[] answers = new InputStream[CLIENTS];

    private VirtualHttp() {}

    private static void answer(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(200, PAGE.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(PAGE);
        }
    }

    /** One answer: its header ends with an empty line, and its body is known. */
    private static void read(InputStream in) throws IOException {
        int line = 1;
        while (line != 0) {
            line = 0;
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    throw new IOException("the server closed the connection");
                }
                line += c == '\r' ? 0 : 1;
            }
        }
        if (in.readNBytes(PAGE.length).length != PAGE.length) {
            throw new IOException("a short answer");
        }
    }

    private static void ask(int client) {
        try {
            OutputStream out = sockets[client].getOutputStream();
            for (int i = 0; i < REQUESTS; i++) {
                out.write(REQUEST);
                read(answers[client]);
            }
        } catch (IOException e) {
            System.out.println("failed: " + e);
            Runtime.getRuntime().halt(1);
        }
    }

    private static int together(int value) {
        CountDownLatch done = new CountDownLatch(CLIENTS);
        for (int i = 0; i < CLIENTS; i++) {
            int client = i;
            executor.execute(() -> {
                ask(client);
                done.countDown();
            });
        }
        try {
            done.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return value + 1;
    }

    public static void main(String[] args) throws Exception {
        Method factory = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        executor = (ExecutorService) factory.invoke(null);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", VirtualHttp::answer);
        server.setExecutor(executor);
        server.start();
        for (int i = 0; i < CLIENTS; i++) {
            sockets[i] = new Socket(InetAddress.getLoopbackAddress(), server.getAddress().getPort());
            sockets[i].setTcpNoDelay(true);
            answers[i] = new BufferedInputStream(sockets[i].getInputStream());
        }
        Workload.repeat(args, VirtualHttp::together);
    }
}
