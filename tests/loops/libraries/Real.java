import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArraySet;
import org.apache.commons.collections.ListUtils;
import org.apache.commons.collections4.Bag;
import org.apache.commons.collections4.bag.CollectionBag;
import org.apache.commons.collections4.bag.HashBag;
import org.apache.commons.collections4.map.ListOrderedMap;
import org.jfree.chart.axis.SegmentedTimeline;
import org.jfree.data.xy.XYSeries;

/**
 * Known faults of libraries, and what a developer would make of each: a search by hash instead of one from the start, a series
 * whose bounds are not those of what leaves it. The second argument of main, if any, asks for the repaired one.
 */
final class Real {
    private static final int ELEMENTS = 6000;
    private static final int HOLIDAYS = 20_000;
    private static final int MANY = 8000;
    private static final int LISTS = 8;
    private static final int QUERIES = 100;
    private static final long WEEK_MS = 7L * SegmentedTimeline.DAY_SEGMENT_SIZE;

    private Real() {}

    private static List<Integer> numbers(int from, int count) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(1_000_000 + from + i);
        }
        return numbers;
    }

    private static <T> List<T> subtractByHash(List<T> all, List<T> some) {
        Set<T> left = new HashSet<>(some);
        List<T> result = new ArrayList<>();
        for (T element : all) {
            if (!left.contains(element)) {
                result.add(element);
            }
        }
        return result;
    }

    private static void subtract(boolean repaired) {
        List<Integer> all = numbers(0, ELEMENTS);
        List<Integer> some = numbers(ELEMENTS / 2, ELEMENTS);
        Program.repeat(value ->
            value + (repaired ? subtractByHash(all, some) : ListUtils.subtract(all, some)).size());
    }

    private static void retain(boolean repaired) {
        // Another one each time, or the same would be retained again.
        List<Bag<Integer>> bags = new ArrayList<>();
        List<Collection<Integer>> retained = new ArrayList<>();
        for (int i = 0; i < LISTS; i++) {
            List<Integer> list = numbers(i * ELEMENTS, ELEMENTS);
            bags.add(CollectionBag.collectionBag(new HashBag<>()));
            bags.get(i).addAll(list);
            retained.add(repaired ? new HashSet<>(list) : list);
        }
        int[] round = {0};
        Program.repeat(value -> {
            int i = ++round[0] % LISTS;
            return value + (bags.get(i).retainAll(retained.get(i)) ? 1 : 2);
        });
    }

    /** How many of the sorted are from one on and up to another. */
    private static int between(long[] sorted, long from, long to) {
        int first = Arrays.binarySearch(sorted, from);
        int last = Arrays.binarySearch(sorted, to);
        return (last < 0 ? -last - 1 : last + 1) - (first < 0 ? -first - 1 : first);
    }

    private static void timeline(boolean repaired) {
        SegmentedTimeline timeline = SegmentedTimeline.newMondayThroughFridayTimeline();
        long monday = SegmentedTimeline.firstMondayAfter1900();
        long[] exceptions = new long[HOLIDAYS];
        for (int i = 0; i < HOLIDAYS; i++) {
            exceptions[i] = monday + i * WEEK_MS;
            timeline.addException(exceptions[i]);
        }
        Program.repeat(value -> {
            int count = value;
            for (int q = 0; q < QUERIES; q++) {
                long from = monday + q * WEEK_MS;
                long to = from + 4 * WEEK_MS;
                count += repaired ? between(exceptions, from, to) : (int) timeline.getExceptionSegmentCount(from, to);
            }
            return count;
        });
    }

    /** One that is seldom the largest or the smallest of a window. */
    private static double within(int x) {
        int place = x % (ELEMENTS - 1);
        return place == 0 ? -ELEMENTS : place == 1 ? ELEMENTS : Math.floorMod(x * 0x9e3779b9, ELEMENTS);
    }

    /** A window of the last values. Where they fall what leaves it is its largest, so the bounds are looked for anew. */
    private static void series(boolean repaired) {
        XYSeries series = new XYSeries("window", false);
        series.setMaximumItemCount(ELEMENTS);
        series.setNotify(false);
        XYSeries sorted = new XYSeries("window", true);
        sorted.setMaximumItemCount(ELEMENTS);
        sorted.setNotify(false);
        int[] x = {0};
        Program.repeat(value -> {
            XYSeries s = repaired ? sorted : series;
            for (int i = 0; i < QUERIES; i++) {
                x[0]++;
                s.add((double) x[0], repaired ? within(x[0]) : -x[0], false);
            }
            return value + (int) s.getMaxY();
        });
    }

    private static void orderedMap(boolean repaired) {
        Map<Integer, Integer> map = repaired ? new LinkedHashMap<>() : ListOrderedMap.listOrderedMap(new HashMap<>());
        List<Integer> keys = numbers(0, MANY);
        for (Integer key : keys) {
            map.put(key, key);
        }
        int[] at = {0};
        Program.repeat(value -> {
            int sum = value;
            for (int q = 0; q < QUERIES; q++) {
                // From its middle to its end, so that half or more is looked through.
                at[0] = (at[0] + 1) % (MANY / 2);
                Integer key = keys.get(MANY / 2 + (at[0] * 1021) % (MANY / 2));
                sum += map.remove(key);
                map.put(key, key);
            }
            return sum;
        });
    }

    private static void linkedList(boolean repaired) {
        // Another one each time, or the sums would be the same ones again.
        List<List<Integer>> lists = new ArrayList<>();
        for (int i = 0; i < LISTS; i++) {
            List<Integer> all = numbers(i * MANY, MANY);
            lists.add(repaired ? new ArrayList<>(all) : new LinkedList<>(all));
        }
        int[] round = {0};
        Program.repeat(value -> {
            int sum = value;
            List<Integer> list = lists.get(++round[0] % LISTS);
            for (int i = 0; i < list.size(); i += 8) {
                sum += list.get(i);
            }
            return sum;
        });
    }

    private static void copyOnWrite(boolean repaired) {
        Set<Integer> set = repaired ? ConcurrentHashMap.newKeySet() : new CopyOnWriteArraySet<>();
        List<Integer> all = numbers(0, MANY);
        set.addAll(all);
        // Equal to those that are there, and other objects.
        List<Integer> again = numbers(0, MANY);
        Program.repeat(value -> {
            int added = value;
            for (int i = MANY / 2; i < MANY; i += 8) {
                added += set.add(again.get(i)) ? 1 : 2;
            }
            return added;
        });
    }

    public static void main(String[] args) {
        boolean repaired = args.length > 1;
        switch (args[0]) {
            case "subtract":
                subtract(repaired);
                break;
            case "retain":
                retain(repaired);
                break;
            case "timeline":
                timeline(repaired);
                break;
            case "series":
                series(repaired);
                break;
            case "orderedMap":
                orderedMap(repaired);
                break;
            case "linkedList":
                linkedList(repaired);
                break;
            case "copyOnWrite":
                copyOnWrite(repaired);
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
