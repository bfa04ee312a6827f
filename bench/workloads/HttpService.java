import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.AbstractHandler;

/**
 * Jetty: a catalogue is searched for what is asked as "/NUMBER", and a page is made of what costs least. Some fifty
 * microseconds each. Prints "listening PORT".
 */
final class HttpService extends AbstractHandler {
    private static final int ITEMS = 4000;
    private static final int SHOWN = 20;

    private static final class Item {
        final String name;
        final int cents;

        Item(int number) {
            name = "Item <" + number * 7919 + ">";
            cents = Math.floorMod(number * 1_103_515_245 + 12_345, 100_000);
        }
    }

    private final List<Item> catalogue = new ArrayList<>();

    private HttpService() {
        for (int i = 0; i < ITEMS; i++) {
            catalogue.add(new Item(i));
        }
    }

    private List<Item> find(String part) {
        List<Item> found = new ArrayList<>();
        for (Item item : catalogue) {
            if (item.name.contains(part)) {
                found.add(item);
            }
        }
        found.sort(Comparator.comparingInt((Item item) -> item.cents).thenComparing(item -> item.name));
        return found.subList(0, Math.min(SHOWN, found.size()));
    }

    private static void escape(StringBuilder page, String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '<':
                    page.append("&lt;");
                    break;
                case '>':
                    page.append("&gt;");
                    break;
                default:
                    page.append(c);
            }
        }
    }

    private static String page(List<Item> items) {
        StringBuilder page = new StringBuilder("<!DOCTYPE html><title>Found</title><table>");
        for (Item item : items) {
            page.append("<tr><td>");
            escape(page, item.name);
            page.append("<td>").append(item.cents);
        }
        return page.append("</table>\n").toString();
    }

    @Override
    public void handle(String target, Request request, HttpServletRequest inner, HttpServletResponse answer)
        throws IOException {
        answer.setContentType("text/html; charset=utf-8");
        answer.getWriter().print(page(find(target.substring(1))));
        request.setHandled(true);
    }

    public static void main(String[] args) throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new HttpService());
        server.start();
        System.out.println("listening " + connector.getLocalPort());
        server.join();
    }
}
