import java.util.ArrayList;
import java.util.List;
import org.apache.commons.collections.ListUtils;

/**
 * commons-collections 3: ListUtils.subtract removes the elements of one list from a copy of another
 * one by one, and each removal searches the copy from its start.
 */
final class ListSubtract {
    private static final int ELEMENTS = 1000;

    private ListSubtract() {}

    static int subtract(List<Integer> all, List<Integer> some, int value) {
        return value + ListUtils.subtract(all, some).size();
    }

    public static void main(String[] args) {
        List<Integer> all = new ArrayList<>();
        List<Integer> some = new ArrayList<>();
        for (int i = 0; i < ELEMENTS; i++) {
            all.add(1_000_000 + i);
            some.add(1_000_000 + ELEMENTS / 2 + i);
        }
        Workload.repeat(args, value -> subtract(all, some, value));
    }
}
