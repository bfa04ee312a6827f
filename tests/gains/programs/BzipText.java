import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;

/** Commons Compress: a text is decompressed from memory. */
final class BzipText {
    private static final int WORDS = 8000;

    private BzipText() {}

    private static byte[] compressed() throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < WORDS; i++) {
            text.append("word").append(Math.floorMod(i * 7919 + i * i, 3001)).append(i % 7 == 0 ? ". " : " ");
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (BZip2CompressorOutputStream out = new BZip2CompressorOutputStream(bytes, 1)) {
            out.write(text.toString().getBytes(StandardCharsets.US_ASCII));
        }
        return bytes.toByteArray();
    }

    private static int round(byte[] compressed, byte[] buffer, int value) {
        int sum = value;
        try (BZip2CompressorInputStream in = new BZip2CompressorInputStream(new ByteArrayInputStream(compressed))) {
            for (int n = in.read(buffer); n > 0; n = in.read(buffer)) {
                sum = sum * 31 + n + buffer[n - 1];
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return sum;
    }

    public static void main(String[] args) throws IOException {
        byte[] compressed = compressed();
        byte[] buffer = new byte[8192];
        Workload.repeat(args, value -> round(compressed, buffer, value));
    }
}
