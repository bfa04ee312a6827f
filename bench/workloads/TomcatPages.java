import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.startup.Tomcat;

/** Tomcat: a page of what a request has, which one connection asks for again and again. */
final class TomcatPages {
    private static final int ASKED = 20;
    private static final String LENGTH = "content-length: ";
    private static final Logger QUIET = Logger.getLogger("org.apache");

    private TomcatPages() {}

    private static final class Page extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            Map<String, String> sorted = new TreeMap<>();
            request.getHeaderNames().asIterator().forEachRemaining(name -> sorted.put(name, request.getHeader(name)));
            request.getParameterMap().forEach((name, values) -> sorted.put(name, values[0]));
            response.setContentType("text/html;charset=UTF-8");
            PrintWriter out = response.getWriter();
            for (Map.Entry<String, String> entry : sorted.entrySet()) {
                out.println("<p>" + entry.getKey() + ": " + entry.getValue() + "</p>");
            }
        }
    }

    private static String line(DataInputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n' && c >= 0; c = in.read()) {
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    private static int ask(OutputStream out, DataInputStream in, int number) {
        int length = 0;
        try {
            out.write(("GET /page?number=" + number + "&what=some%20words&more=1 HTTP/1.1\r\nHost: localhost\r\n"
                + "Accept: text/html\r\nAccept-Language: en\r\nUser-Agent: bench\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            for (String line = line(in); !line.isEmpty(); line = line(in)) {
                if (line.regionMatches(true, 0, LENGTH, 0, LENGTH.length())) {
                    length = Integer.parseInt(line.substring(LENGTH.length()).trim());
                }
            }
            in.readFully(new byte[length]);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return length;
    }

    public static void main(String[] args) throws IOException, LifecycleException {
        QUIET.setLevel(Level.WARNING);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("tomcat").toString());
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "page", new Page());
        context.addServletMappingDecoded("/page", "page");
        tomcat.start();
        try (Socket socket = new Socket("localhost", tomcat.getConnector().getLocalPort())) {
            socket.setTcpNoDelay(true);
            OutputStream out = socket.getOutputStream();
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            Workload.repeat(args, value -> {
                int sum = value;
                for (int i = 0; i < ASKED; i++) {
                    sum += ask(out, in, i);
                }
                return sum;
            });
        }
    }
}
