import java.io.IOException;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.RAMDirectory;
import org.apache.lucene.util.Version;

/** Lucene: some documents are written to an index in memory, and those of two words are looked for. */
final class LuceneSearch {
    private static final int WRITTEN = 20;
    private static final int WORDS = 60;
    private static final int FOUND = 10;

    private LuceneSearch() {}

    private static String text(int number) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < WORDS; i++) {
            text.append("word").append(Math.floorMod((number + i) * 7919 + i * i, 500)).append(i % 7 == 0 ? ". " : " ");
        }
        return text.toString();
    }

    private static int round(int value) {
        int sum = value;
        RAMDirectory directory = new RAMDirectory();
        try (IndexWriter writer =
                 new IndexWriter(directory, new IndexWriterConfig(Version.LUCENE_4_10_4, new StandardAnalyzer()))) {
            for (int i = 0; i < WRITTEN; i++) {
                Document document = new Document();
                document.add(new TextField("text", text(value + i), Field.Store.YES));
                writer.addDocument(document);
            }
            writer.commit();
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                for (int i = 0; i < WRITTEN; i++) {
                    BooleanQuery query = new BooleanQuery();
                    query.add(new TermQuery(new Term("text", "word" + i)), BooleanClause.Occur.SHOULD);
                    query.add(new TermQuery(new Term("text", "word" + (i + WORDS))), BooleanClause.Occur.SHOULD);
                    sum += searcher.search(query, FOUND).totalHits;
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return sum;
    }

    public static void main(String[] args) {
        Workload.repeat(args, LuceneSearch::round);
    }
}
