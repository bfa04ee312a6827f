import java.util.ArrayList;
import java.util.List;
import org.apache.commons.collections4.Bag;
import org.apache.commons.collections4.bag.CollectionBag;
import org.apache.commons.collections4.bag.HashBag;

/**
 * commons-collections 4: CollectionBag.retainAll asks the given collection for each of its own elements;
 * when that is a list, every question searches the list from its start.
 */
final class BagRetain {
    private static final int ELEMENTS = 1000;

    private BagRetain() {}

    static int retain(Bag<Integer> bag, List<Integer> list, int value) {
        return value + (bag.retainAll(list) ? 1 : 2);
    }

    public static void main(String[] args) {
        Bag<Integer> bag = CollectionBag.collectionBag(new HashBag<>());
        List<Integer> list = new ArrayList<>();
        for (int i = 0; i < ELEMENTS; i++) {
            bag.add(1_000_000 + i);
            list.add(1_000_000 + i);
        }
        Workload.repeat(args, value -> retain(bag, list, value));
    }
}
