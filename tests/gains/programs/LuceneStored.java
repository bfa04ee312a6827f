import java.io.IOException;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.ByteBuffersDirectory;

/** Lucene 8: stored documents are read from an index in memory, here and there. */
final class LuceneStored {
    private static final int DOCUMENTS = 5000;
    private static final int WORDS = 80;
    private static final int READ = 20;

    private LuceneStored() {}

    private static String text(int number) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < WORDS; i++) {
            text.append("word").append(Math.floorMod((number + i) * 7919 + i * i * number, 500)).append(i % 7 == 0 ? ". " : " ");
        }
        return text.toString();
    }

    private static int round(DirectoryReader reader, int value) {
        int sum = value;
        try {
            for (int i = 0; i < READ; i++) {
                sum = sum * 31 + reader.document(Math.floorMod(sum * 7919 + i, DOCUMENTS)).get("text").length();
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return sum;
    }

    public static void main(String[] args) throws IOException {
        ByteBuffersDirectory directory = new ByteBuffersDirectory();
        try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(new StandardAnalyzer()))) {
            for (int i = 0; i < DOCUMENTS; i++) {
                Document document = new Document();
                document.add(new StoredField("text", text(i)));
                document.add(new StoredField("name", "document " + i));
                writer.addDocument(document);
            }
            writer.commit();
        }
        DirectoryReader reader = DirectoryReader.open(directory);
        Workload.repeat(args, value -> round(reader, value));
    }
}
