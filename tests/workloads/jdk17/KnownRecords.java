import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;

/** Places that JDK 11 does not have: fields of records and of hidden classes. */
public final class KnownRecords implements KnownPlaces.Extra {
    private static final int OBJECTS = 32;

    record Pair(long first, int second, Object third, Pair link) {}

    interface Counting {
        long touch_count(int n);
    }

    /** Read as a resource, and defined as a hidden class. */
    static final class Hidden implements Counting {
        private volatile long count;

        @Override
        public long touch_count(int n) {
            for (int i = 0; i < n; i++) {
                count = count + i;
            }
            return count;
        }
    }

    private final Pair[] pairs = new Pair[OBJECTS];
    private final Counting hidden;

    public KnownRecords() throws IOException, ReflectiveOperationException {
        for (int i = 0; i < OBJECTS; i++) {
            pairs[i] = new Pair(i, i, this, i > 0 ? pairs[i - 1] : null);
        }
        try (InputStream code = KnownRecords.class.getResourceAsStream("KnownRecords$Hidden.class")) {
            MethodHandles.Lookup lookup = MethodHandles.lookup().defineHiddenClass(code.readAllBytes(), true);
            hidden = (Counting) lookup.lookupClass().getDeclaredConstructor().newInstance();
        }
    }

    @Override
    public void declare() {
        KnownPlaces.field("touch_record_first", Pair.class, "first");
        KnownPlaces.field("touch_record_second", Pair.class, "second");
        KnownPlaces.field("touch_record_third", Pair.class, "third");
        KnownPlaces.field("touch_record_link", Pair.class, "link");
        String name = hidden.getClass().getName();
        System.out.println("hidden " + name);
        System.out.println("touch touch_count field KnownRecords$Hidden* count KnownRecords$Hidden* long");
        System.out.println("touch touch_count header KnownRecords$Hidden* * - *");
    }

    static long touch_record_first(Pair p) {
        return p.first;
    }

    static long touch_record_second(Pair p) {
        return p.second;
    }

    static long touch_record_third(Pair p) {
        return p.third == null ? 1 : 2;
    }

    static long touch_record_link(Pair p) {
        long n = 0;
        for (Pair q = p; q != null; q = q.link) {
            n++;
        }
        return n;
    }

    @Override
    public long run(int n) {
        long sum = 0;
        for (int i = 0; i < n / 8; i++) {
            Pair p = pairs[i % OBJECTS];
            sum += touch_record_first(p) + touch_record_second(p) + touch_record_third(p);
        }
        return sum + touch_record_link(pairs[OBJECTS - 1]) + hidden.touch_count(n);
    }
}
