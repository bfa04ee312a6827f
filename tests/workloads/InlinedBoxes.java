/** Numbers in boxes, opened by methods of the library, some of which the compiler inlines late. */
final class InlinedBoxes {
    private static final int TURNS = 4096;
    private static final int TOO_LARGE_TO_BE_KEPT = 1000;

    private static final Integer[] integers = new Integer[Fruit.COUNT];
    private static final Long[] longs = new Long[Fruit.COUNT];
    private static final Object[] objects = new Object[Fruit.COUNT];
    private static final Fruit[] apples = Fruit.apples();

    private InlinedBoxes() {}

    static int open(int i) {
        return integers[i] - TOO_LARGE_TO_BE_KEPT;
    }

    static int openLong(int i) {
        return (int) (longs[i] - TOO_LARGE_TO_BE_KEPT);
    }

    static int openAny(int i) {
        return (Character) objects[i] - TOO_LARGE_TO_BE_KEPT;
    }

    static Integer boxed(int i) {
        return i & 63;
    }

    static int priced(Fruit f, Integer price) {
        f.price = price & 64;
        return f.weight;
    }

    static int rounds(int value) {
        int one = Fruit.one;
        int at = 1;
        for (int i = 0; i < TURNS; i++) {
            at = openAny(openLong(open(Fruit.slow(at, one))));
            at = priced(apples[at], boxed(at));
        }
        for (int i = 0; i < TURNS; i++) {
            Fruit f = apples[at];
            at = openAny(Fruit.slow(openLong(open(at)), one));
            at = priced(f, boxed(at));
        }
        for (int i = 0; i < TURNS; i++) {
            at = openLong(Fruit.slow(open(at), one));
        }
        return value;
    }

    public static void main(String[] args) {
        for (int i = 0; i < Fruit.COUNT; i++) {
            integers[i] = TOO_LARGE_TO_BE_KEPT + apples[i].weight;
            longs[i] = (long) TOO_LARGE_TO_BE_KEPT + apples[i].code;
            objects[i] = (char) (TOO_LARGE_TO_BE_KEPT + apples[i].weight);
        }
        Fruit.madeBy(Integer.class, "intValue", "field", "java.lang.Integer", "value");
        Fruit.madeBy(Long.class, "longValue", "field", "java.lang.Long", "value");
        Fruit.madeBy(Character.class, "charValue", "field", "java.lang.Character", "value");
        Fruit.madeBy(InlinedBoxes.class, "openLong", "element", "java.lang.Long[]", "");
        Fruit.madeBy(InlinedBoxes.class, "openAny", "element", "java.lang.Object[]", "");
        Fruit.madeBy(InlinedBoxes.class, "openAny", "header", "java.lang.Character", "class");
        Fruit.madeBy(InlinedBoxes.class, "priced", "field", "Fruit$Apple", "weight");
        Fruit.madeBy(InlinedBoxes.class, "priced", "field", "Fruit$Apple", "price");
        Workload.repeat(args, InlinedBoxes::rounds);
    }
}
