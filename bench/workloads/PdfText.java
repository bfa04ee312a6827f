import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.PDPage;
import org.apache.pdfbox.pdmodel.PDPageContentStream;
import org.apache.pdfbox.pdmodel.font.PDType1Font;
import org.apache.pdfbox.text.PDFTextStripper;

/** PDFBox: the text of a document of some pages. */
final class PdfText {
    private static final int PAGES = 3;
    private static final int LINES = 40;
    private static final float SIZE = 10;
    private static final Logger QUIET = Logger.getLogger("org.apache.pdfbox");

    private PdfText() {}

    private static byte[] document() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (PDDocument document = new PDDocument()) {
            for (int i = 0; i < PAGES; i++) {
                PDPage page = new PDPage();
                document.addPage(page);
                try (PDPageContentStream content = new PDPageContentStream(document, page)) {
                    content.beginText();
                    content.setFont(PDType1Font.HELVETICA, SIZE);
                    content.newLineAtOffset(SIZE, 70 * SIZE);
                    for (int line = 0; line < LINES; line++) {
                        content.showText("Line " + line + " of page " + i + " has some words and a number, " + line * 7919);
                        content.newLineAtOffset(0, -SIZE);
                    }
                    content.endText();
                }
            }
            document.save(out);
        }
        return out.toByteArray();
    }

    private static int round(byte[] bytes, int value) {
        try (PDDocument document = PDDocument.load(bytes)) {
            return value + new PDFTextStripper().getText(document).length();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws IOException {
        QUIET.setLevel(Level.SEVERE);
        System.setProperty("pdfbox.fontcache", System.getProperty("java.io.tmpdir"));
        byte[] bytes = document();
        Workload.repeat(args, value -> round(bytes, value));
    }
}
