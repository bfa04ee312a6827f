import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Calls of many forms, for readers of stacks: a recursion of up to 100 calls, which recorders cut, lambdas and streams,
 * and methods of the same name.
 */
final class DeepCalls {
    private static int calls;

    private DeepCalls() {}

    private static int fill(int value) {
        Map<Object, Object> map = new HashMap<>();
        for (int i = 0; i < 100; i++) {
            map.put("key" + (i + value), i);
        }
        return map.hashCode();
    }

    private static int fill(String value) {
        return fill(value.length());
    }

    private static int descend(int depth, int value) {
        return depth == 0 ? fill(value) : descend(depth - 1, value) + 1;
    }

    private static int stream(int value) {
        List<Integer> list = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            list.add(i ^ value);
        }
        return list.stream().map(i -> fill("x" + i)).sorted((a, b) -> b - a).collect(Collectors.toList()).get(0);
    }

    public static void main(String[] args) {
        Workload.repeat(args, value -> descend(calls++ & 127, value) + stream(value & 15));
    }
}
