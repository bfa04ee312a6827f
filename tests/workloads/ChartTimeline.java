import org.jfree.chart.axis.SegmentedTimeline;

/**
 * JFreeChart: a Monday to Friday timeline with many holidays is asked how many of them lie in a range.
 * SegmentedTimeline.getExceptionSegmentCount looks at every exception each time.
 */
final class ChartTimeline {
    private static final int EXCEPTIONS = 1000;
    private static final int QUERIES = 100;
    private static final long WEEK_MS = 7L * SegmentedTimeline.DAY_SEGMENT_SIZE;

    private ChartTimeline() {}

    static int queries(SegmentedTimeline timeline, long from, int value) {
        int count = value;
        for (int q = 0; q < QUERIES; q++) {
            long start = from + q * WEEK_MS;
            count += (int) timeline.getExceptionSegmentCount(start, start + 4 * WEEK_MS);
        }
        return count;
    }

    public static void main(String[] args) {
        SegmentedTimeline timeline = SegmentedTimeline.newMondayThroughFridayTimeline();
        long monday = SegmentedTimeline.firstMondayAfter1900();
        for (int i = 0; i < EXCEPTIONS; i++) {
            timeline.addException(monday + i * WEEK_MS);
        }
        Workload.repeat(args, value -> queries(timeline, monday, value));
    }
}
