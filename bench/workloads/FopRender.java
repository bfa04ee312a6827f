import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.StringReader;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.sax.SAXResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.fop.apps.FOPException;
import org.apache.fop.apps.Fop;
import org.apache.fop.apps.FopFactory;
import org.apache.xmlgraphics.util.MimeConstants;

/** FOP: a document with text and a table becomes PostScript. */
final class FopRender {
    private static final int ROWS = 40;

    private static final FopFactory FACTORY = FopFactory.newInstance(new File(".").toURI());
    private static final String DOCUMENT = document();

    private FopRender() {}

    private static String document() {
        StringBuilder fo = new StringBuilder(
            "<fo:root xmlns:fo='http://www.w3.org/1999/XSL/Format'><fo:layout-master-set>"
                + "<fo:simple-page-master master-name='p' page-width='210mm' page-height='297mm' margin='20mm'>"
                + "<fo:region-body/></fo:simple-page-master></fo:layout-master-set>"
                + "<fo:page-sequence master-reference='p'><fo:flow flow-name='xsl-region-body'>"
                + "<fo:block font-size='14pt' font-weight='bold'>Table</fo:block><fo:table><fo:table-body>");
        for (int i = 0; i < ROWS; i++) {
            fo.append("<fo:table-row><fo:table-cell border='0.3pt solid black'><fo:block>row ").append(i)
                .append("</fo:block></fo:table-cell><fo:table-cell><fo:block text-align='justify'>some words to break ")
                .append("into lines, of which there are enough</fo:block></fo:table-cell></fo:table-row>");
        }
        return fo.append("</fo:table-body></fo:table></fo:flow></fo:page-sequence></fo:root>").toString();
    }

    private static int render(int value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            Fop fop = FACTORY.newFop(MimeConstants.MIME_POSTSCRIPT, out);
            TransformerFactory.newInstance().newTransformer().transform(
                new StreamSource(new StringReader(DOCUMENT)), new SAXResult(fop.getDefaultHandler()));
        } catch (FOPException | TransformerException e) {
            throw new IllegalStateException(e);
        }
        return value + out.size();
    }

    public static void main(String[] args) {
        Logger.getLogger("org.apache.fop").setLevel(Level.WARNING);
        Workload.repeat(args, FopRender::render);
    }
}
