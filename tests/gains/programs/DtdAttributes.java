import java.io.IOException;
import java.io.StringReader;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.parsers.SAXParser;
import javax.xml.parsers.SAXParserFactory;
import org.xml.sax.Attributes;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;
import org.xml.sax.helpers.DefaultHandler;

/** Xerces: documents whose elements have some attributes are held against their DTD. */
final class DtdAttributes extends DefaultHandler {
    private static final int ATTRIBUTES = 12;
    private static final int ELEMENTS = 200;

    private int seen;

    private static String document() {
        StringBuilder text = new StringBuilder("<!DOCTYPE r [<!ELEMENT r (e)*><!ELEMENT e (#PCDATA)>\n<!ATTLIST e");
        for (int i = 0; i < ATTRIBUTES; i++) {
            text.append(" attribute").append(i).append(" CDATA #IMPLIED\n");
        }
        text.append(">]>\n<r>");
        for (int i = 0; i < ELEMENTS; i++) {
            text.append("<e");
            for (int k = 0; k < ATTRIBUTES; k++) {
                text.append(" attribute").append(k).append("=\"v").append(i * k).append('"');
            }
            text.append(">text of ").append(i).append("</e>\n");
        }
        return text.append("</r>").toString();
    }

    @Override
    public void startElement(String uri, String local, String name, Attributes attributes) {
        seen += attributes.getLength();
    }

    @Override
    public void error(SAXParseException e) throws SAXException {
        throw e;
    }

    private static int round(SAXParser parser, String document, int value) {
        DtdAttributes handler = new DtdAttributes();
        try {
            parser.parse(new InputSource(new StringReader(document)), handler);
        } catch (SAXException | IOException e) {
            throw new IllegalStateException(e);
        }
        return value + handler.seen;
    }

    public static void main(String[] args) throws ParserConfigurationException, SAXException {
        SAXParserFactory factory = SAXParserFactory.newInstance("org.apache.xerces.jaxp.SAXParserFactoryImpl", null);
        factory.setValidating(true);
        SAXParser parser = factory.newSAXParser();
        String document = document();
        Workload.repeat(args, value -> round(parser, document, value));
    }
}
