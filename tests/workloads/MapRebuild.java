import org.apache.commons.collections4.map.HashedMap;

/**
 * A row of table 1 of the DJXPerf paper: hash maps of Commons Collections that are made anew in a loop, much
 * larger than what is put into them.
 */
final class MapRebuild {
    private static final int CAPACITY = 65_536;
    private static final Integer[] KEYS = new Integer[64];

    private MapRebuild() {}

    private static int fillAndSum(int value) {
        HashedMap<Integer, Integer> map = new HashedMap<>(CAPACITY);
        int sum = 0;
        for (Integer key : KEYS) {
            map.put(key, KEYS[value & 63]);
        }
        for (int i = 0; i < 20; i++) {
            for (Integer v : map.values()) {
                sum += v;
            }
        }
        return sum;
    }

    public static void main(String[] args) {
        for (int i = 0; i < KEYS.length; i++) {
            KEYS[i] = 1000 + i * 61;
        }
        Workload.repeat(args, value -> {
            return value + fillAndSum(value);
        });
    }
}
