import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A byte to another thread and back over TCP; an operation is thirty of them. */
final class LoopbackEcho {
    private static final int BYTES = 30;

    private final InputStream in;
    private final OutputStream out;

    private LoopbackEcho(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        in = socket.getInputStream();
        out = socket.getOutputStream();
    }

    private void echo() {
        try {
            for (int b = in.read(); b >= 0; b = in.read()) {
                out.write(b);
            }
        } catch (IOException e) {
            return; // The program ends, and its sockets are closed.
        }
    }

    private int ask(int value) {
        int sum = value;
        try {
            for (int i = 0; i < BYTES; i++) {
                out.write(sum);
                sum += in.read();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sum;
    }

    public static void main(String[] args) throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            Socket near = new Socket(listener.getInetAddress(), listener.getLocalPort());
            Socket far = listener.accept()) {
            Thread other = new Thread(new LoopbackEcho(far)::echo);
            other.setDaemon(true);
            other.start();
            Workload.repeat(args, new LoopbackEcho(near)::ask);
        }
    }
}
