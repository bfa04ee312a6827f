import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Iterates over sets of numbers again and again: their iterators store fields that the next step overwrites. */
final class SetWalk {
    private static final int SETS = 40;
    private static final int NUMBERS = 400;

    private final List<Set<Integer>> sets = new ArrayList<>();

    private SetWalk() {
        for (int i = 0; i < SETS; i++) {
            Set<Integer> set = new HashSet<>();
            for (int k = 0; k < NUMBERS; k++) {
                set.add(k * 7 + i);
            }
            sets.add(set);
        }
    }

    static int sum(Set<Integer> set) {
        int sum = 0;
        for (Integer number : set) {
            sum += number;
        }
        return sum;
    }

    private int round(int value) {
        int sum = value;
        for (Set<Integer> set : sets) {
            sum += sum(set);
        }
        return sum;
    }

    public static void main(String[] args) {
        Workload.repeat(args, new SetWalk()::round);
    }
}
