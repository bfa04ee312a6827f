/** A switch whose cases the compiler sorts, and orders by how often they were taken: each calls a method of its own. */
final class InlinedSwitch {
    private static final int TURNS = 4096;

    private static final Fruit[] apples = Fruit.apples();
    private static final Fruit[] pears = Fruit.pears();
    private static final Fruit[] plums = Fruit.plums();
    private static final int[] KEYS = {-40_000, 17, 900_000, 17, -40_000};
    private static final int[] keys = new int[Fruit.COUNT];

    private InlinedSwitch() {}

    static int peel(int i) {
        Fruit f = apples[i];
        f.price = 1;
        return f.weight;
    }

    static int slice(int i) {
        Fruit f = pears[i];
        f.price = 2;
        return f.weight ^ 1;
    }

    static int stone(int i) {
        Fruit f = plums[i];
        f.price = 3;
        return f.weight ^ 2;
    }

    static int choose(int key, int i, int one) {
        switch (key) {
            case 900_000:
                return stone(Fruit.slow(i, one));
            case 3:
                return i;
            case -40_000:
                return peel(Fruit.slow(i ^ 4, one));
            case 500:
                return 1;
            case 17:
                return slice(Fruit.slow(i ^ 8, one));
            default:
                return 0;
        }
    }

    static int rounds(int value) {
        int one = Fruit.one;
        int at = 1;
        for (int i = 0; i < TURNS; i++) {
            at = choose(keys[(at + i) % Fruit.COUNT], at, one);
        }
        return at + value;
    }

    public static void main(String[] args) {
        String[] methods = {"peel", "slice", "stone"};
        String[] classes = {"Fruit$Apple", "Fruit$Pear", "Fruit$Plum"};
        for (int i = 0; i < methods.length; i++) {
            Fruit.madeBy(InlinedSwitch.class, methods[i], "element", classes[i] + "[]", "");
            Fruit.madeBy(InlinedSwitch.class, methods[i], "field", classes[i], "weight");
            Fruit.madeBy(InlinedSwitch.class, methods[i], "field", classes[i], "price");
        }
        for (int i = 0; i < keys.length; i++) {
            keys[i] = KEYS[i % KEYS.length];
        }
        Fruit.madeBy(InlinedSwitch.class, "rounds", "element", "int[]", "");
        Workload.repeat(args, InlinedSwitch::rounds);
    }
}
