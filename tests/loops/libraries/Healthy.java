import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.parsers.SAXParser;
import javax.xml.parsers.SAXParserFactory;
import org.xml.sax.Attributes;
import org.xml.sax.SAXException;
import org.xml.sax.helpers.DefaultHandler;

/** Hot loops that are as they should be: sorting, parsing, compressing, matching, multiplying. */
final class Healthy {
    private static final int SORTED = 20_000;
    private static final int SIDE = 160;
    private static final int TEXT = 100_000;
    private static final int TEXTS = 16;
    private static final int LOG_TABLE = 12;
    private static final int SHORTEST = 4;
    private static final int LONGEST = 255;

    private static int next;

    private Healthy() {}

    private static void sorting() {
        int[] random = new Random(42).ints(SORTED).toArray();
        Program.repeat(value -> {
            random[Math.floorMod(value, SORTED)] = value;
            int[] a = random.clone();
            Arrays.sort(a);
            return value + (a[SORTED / 2] & 3) + 1;
        });
    }

    private static void sortingObjects() {
        String[] random = new Random(42).ints(SORTED / 10).mapToObj(Integer::toString).toArray(String[]::new);
        Program.repeat(value -> {
            random[Math.floorMod(value, random.length)] = Integer.toString(value);
            String[] a = random.clone();
            Arrays.sort(a);
            return value + a[0].length();
        });
    }

    /** Real programs are given something else each time. */
    private static String[] texts(String between) {
        String[] texts = new String[TEXTS];
        for (int i = 0; i < TEXTS; i++) {
            texts[i] = words(between, i);
        }
        return texts;
    }

    private static String words(String between, int seed) {
        String[] words = {"profile", "memory", "store", "load", "loop", "thread", "window", "ratio", "sum", "x"};
        StringBuilder text = new StringBuilder();
        Random random = new Random(seed);
        while (text.length() < TEXT) {
            text.append(words[random.nextInt(words.length)]).append(random.nextInt(1000)).append(between);
        }
        return text.toString();
    }

    private static final class Counter extends DefaultHandler {
        private int count;

        @Override
        public void startElement(String uri, String name, String qualified, Attributes attributes) {
            count += attributes.getLength();
        }

        @Override
        public void characters(char[] text, int start, int length) {
            count += length;
        }
    }

    private static byte[] document(String words) {
        StringBuilder text = new StringBuilder("<list>");
        for (String word : words.split(" ")) {
            text.append("<item name='").append(word).append("' size='").append(word.length()).append("'>").append(word)
                .append(" &amp; more</item>");
        }
        return text.append("</list>").toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void xml() throws ParserConfigurationException, SAXException {
        byte[][] documents = Arrays.stream(texts(" ")).map(Healthy::document).toArray(byte[][]::new);
        SAXParser parser = SAXParserFactory.newInstance().newSAXParser();
        Program.repeat(value -> {
            Counter counter = new Counter();
            try {
                parser.parse(new ByteArrayInputStream(documents[next++ % TEXTS]), counter);
            } catch (SAXException | IOException e) {
                throw new IllegalStateException(e);
            }
            return value + counter.count;
        });
    }

    /** Lempel and Ziv's way, with a table of where each four bytes were last. The bytes written. */
    private static int compress(byte[] in, byte[] out, int[] table) {
        Arrays.fill(table, -1);
        int written = 0;
        int at = 0;
        while (at + SHORTEST < in.length) {
            int four = in[at] & 255 | (in[at + 1] & 255) << 8 | (in[at + 2] & 255) << 16 | in[at + 3] << 24;
            int slot = four * 0x9E3779B1 >>> 32 - LOG_TABLE;
            int before = table[slot];
            table[slot] = at;
            int length = 0;
            if (before >= 0) {
                while (length < LONGEST && at + length < in.length && in[before + length] == in[at + length]) {
                    length++;
                }
            }
            if (length >= SHORTEST) {
                out[written++] = (byte) length;
                out[written++] = (byte) (at - before);
                out[written++] = (byte) (at - before >>> 8);
                at += length;
            } else {
                out[written++] = in[at++];
            }
        }
        return written;
    }

    private static void compression() {
        byte[][] inputs = Arrays.stream(texts(", ")).map(t -> t.getBytes(StandardCharsets.US_ASCII)).toArray(byte[][]::new);
        byte[] out = new byte[3 * TEXT];
        int[] table = new int[1 << LOG_TABLE];
        Program.repeat(value -> {
            byte[] in = inputs[next++ % TEXTS];
            return value + compress(in, out, table);
        });
    }

    private static void regex() {
        Pattern pattern = Pattern.compile("(load|store)[0-9]*[05] ([a-z]+)([0-9]+)");
        String[] texts = texts(" ");
        Program.repeat(value -> {
            Matcher matcher = pattern.matcher(texts[next++ % TEXTS]);
            int found = value;
            while (matcher.find()) {
                found += matcher.end(2);
            }
            return found;
        });
    }

    private static void product(double[][] a, double[][] b, double[][] c) {
        for (int i = 0; i < SIDE; i++) {
            for (int j = 0; j < SIDE; j++) {
                double sum = 0;
                for (int k = 0; k < SIDE; k++) {
                    sum += a[i][k] * b[k][j];
                }
                c[i][j] = sum;
            }
        }
    }

    private static void matrix() {
        double[][] a = new double[SIDE][SIDE];
        double[][] b = new double[SIDE][SIDE];
        double[][] c = new double[SIDE][SIDE];
        Random random = new Random(42);
        for (int i = 0; i < SIDE; i++) {
            for (int j = 0; j < SIDE; j++) {
                a[i][j] = random.nextDouble();
                b[i][j] = random.nextDouble();
            }
        }
        Program.repeat(value -> {
            a[Math.floorMod(value, SIDE)][0] = value;
            product(a, b, c);
            return value + (c[0][0] > 0 ? 1 : 2);
        });
    }

    public static void main(String[] args) throws ParserConfigurationException, SAXException {
        switch (args[0]) {
            case "sorting":
                sorting();
                break;
            case "sortingObjects":
                sortingObjects();
                break;
            case "xml":
                xml();
                break;
            case "compression":
                compression();
                break;
            case "regex":
                regex();
                break;
            case "matrix":
                matrix();
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
