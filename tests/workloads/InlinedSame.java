/** The same fields by three methods of one loop. */
final class InlinedSame {
    private static final int TURNS = 4096;

    private static final Fruit[] apples = Fruit.apples();
    private static final Fruit[] pears = Fruit.pears();
    private static final Fruit[] plums = Fruit.plums();

    private InlinedSame() {}

    static int first(int i) {
        Fruit f = apples[i];
        f.price = 1;
        return f.weight;
    }

    static int second(int i) {
        Fruit f = pears[i];
        f.price = 2;
        return f.weight ^ 1;
    }

    static int third(int i) {
        Fruit f = plums[i];
        f.price = 3;
        return f.weight ^ 2;
    }

    static int rounds(int value) {
        int one = Fruit.one;
        int at = 1;
        for (int i = 0; i < TURNS; i++) {
            at = third(second(first(Fruit.slow(at, one))));
        }
        for (int i = 0; i < TURNS; i++) {
            at = first(third(second(Fruit.slow(at, one))));
        }
        for (int i = 0; i < TURNS; i++) {
            at = second(first(third(Fruit.slow(at, one))));
        }
        return value;
    }

    public static void main(String[] args) {
        String[] methods = {"first", "second", "third"};
        String[] classes = {"Fruit$Apple", "Fruit$Pear", "Fruit$Plum"};
        for (int i = 0; i < methods.length; i++) {
            Fruit.madeBy(InlinedSame.class, methods[i], "element", classes[i] + "[]", "");
            Fruit.madeBy(InlinedSame.class, methods[i], "field", classes[i], "weight");
            Fruit.madeBy(InlinedSame.class, methods[i], "field", classes[i], "price");
        }
        Workload.repeat(args, InlinedSame::rounds);
    }
}
