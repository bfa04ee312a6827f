import java.io.StringReader;
import java.io.StringWriter;
import javax.xml.transform.Templates;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/** XSLTC: a compiled stylesheet sorts and counts the elements of a document. */
final class XsltTransform {
    private static final int ELEMENTS = 300;
    private static final String SHEET =
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
            + "<xsl:key name='of' match='e' use='@k'/>"
            + "<xsl:template match='/'><all><xsl:apply-templates select='r/e'><xsl:sort select='@n' data-type='number'/>"
            + "</xsl:apply-templates></all></xsl:template>"
            + "<xsl:template match='e'><row id='{@n}' same='{count(key(\"of\", @k))}'>"
            + "<xsl:value-of select='concat(@k, \"-\", string-length(.), substring(., 2, 5))'/></row></xsl:template>"
            + "</xsl:stylesheet>";

    private XsltTransform() {}

    private static String document() {
        StringBuilder text = new StringBuilder("<r>");
        for (int i = 0; i < ELEMENTS; i++) {
            text.append("<e n='" + i * 7919 % ELEMENTS + "' k='k" + i % 13 + "'>text of element " + i + "</e>");
        }
        return text.append("</r>").toString();
    }

    private static int transform(Templates sheet, String document, int value) {
        StringWriter out = new StringWriter();
        try {
            sheet.newTransformer().transform(new StreamSource(new StringReader(document)), new StreamResult(out));
        } catch (TransformerException e) {
            throw new IllegalStateException(e);
        }
        return value + out.getBuffer().length();
    }

    public static void main(String[] args) throws TransformerException {
        TransformerFactory factory =
            TransformerFactory.newInstance("com.sun.org.apache.xalan.internal.xsltc.trax.TransformerFactoryImpl", null);
        Templates sheet = factory.newTemplates(new StreamSource(new StringReader(SHEET)));
        String document = document();
        Workload.repeat(args, value -> transform(sheet, document, value));
    }
}
