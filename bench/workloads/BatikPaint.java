import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import org.apache.batik.transcoder.TranscoderException;
import org.apache.batik.transcoder.TranscoderInput;
import org.apache.batik.transcoder.TranscoderOutput;
import org.apache.batik.transcoder.image.PNGTranscoder;

/** Batik: a drawing with paths, gradients and text-free shapes becomes a PNG. */
final class BatikPaint {
    private static final int SHAPES = 40;

    private BatikPaint() {}

    private static String drawing(int seed) {
        StringBuilder svg = new StringBuilder(
            "<svg xmlns='http://www.w3.org/2000/svg' width='160' height='160'>"
                + "<defs><linearGradient id='g'><stop offset='0' stop-color='red'/>"
                + "<stop offset='1' stop-color='blue'/></linearGradient></defs>");
        for (int i = 0; i < SHAPES; i++) {
            int x = Math.floorMod(seed + i * 37, 160);
            int y = Math.floorMod(seed + i * 53, 160);
            svg.append("<path fill='url(#g)' stroke='black' d='M").append(x).append(' ').append(y)
                .append(" q 20 -30 40 0 t 10 10 z'/><circle cx='").append(y).append("' cy='").append(x)
                .append("' r='9' opacity='0.5'/>");
        }
        return svg.append("</svg>").toString();
    }

    private static int paint(int value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            new PNGTranscoder().transcode(
                new TranscoderInput(new StringReader(drawing(value))), new TranscoderOutput(out));
        } catch (TranscoderException e) {
            throw new IllegalStateException(e);
        }
        return value + out.size();
    }

    public static void main(String[] args) {
        System.setProperty("java.awt.headless", "true");
        Workload.repeat(args, BatikPaint::paint);
    }
}
