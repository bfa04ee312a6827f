/** As InlinedGetters, but apples and pears are asked in one expression, between whose parts nothing else stands. */
final class InlinedTwins {
    private static final int TURNS = 4096;

    private static final Fruit[] apples = Fruit.apples();
    private static final Fruit[] pears = Fruit.pears();

    private InlinedTwins() {}

    static int weightOf(Fruit f) {
        return f.weight;
    }

    static int priceOf(Fruit f) {
        return f.price;
    }

    static int codeOf(Fruit f) {
        return f.code;
    }

    static int heft(Fruit f) {
        return f.weight;
    }

    static int cost(Fruit f) {
        return f.price;
    }

    static int label(Fruit f) {
        return f.code;
    }

    static void paint(Fruit f, int shade) {
        f.shade = shade;
    }

    static void dye(Fruit f, int shade) {
        f.shade = shade;
    }

    static int rounds(int value) {
        int one = Fruit.one;
        int at = 1;
        for (int i = 0; i < TURNS; i++) {
            Fruit f = apples[at];
            Fruit g = pears[at];
            at = Fruit.slow(at, one) + cost(g) + priceOf(f);
            paint(f, one);
            at = Fruit.slow(at, one) + heft(g) + weightOf(f) + label(g);
            dye(g, one);
            at = at % Fruit.COUNT;
        }
        for (int i = 0; i < TURNS; i++) {
            Fruit f = apples[Fruit.slow(at, one)];
            at = heft(pears[codeOf(f) + priceOf(f)]);
        }
        for (int i = 0; i < TURNS; i++) {
            Fruit g = pears[Fruit.slow(at, one)];
            dye(g, one);
            at = label(g) + cost(g);
            paint(apples[at], one);
        }
        return value;
    }

    public static void main(String[] args) {
        String[] fields = {"weight", "price", "code"};
        String[] ofApples = {"weightOf", "priceOf", "codeOf"};
        String[] ofPears = {"heft", "cost", "label"};
        for (int i = 0; i < fields.length; i++) {
            Fruit.madeBy(InlinedTwins.class, ofApples[i], "field", "Fruit$Apple", fields[i]);
            Fruit.madeBy(InlinedTwins.class, ofPears[i], "field", "Fruit$Pear", fields[i]);
        }
        Fruit.madeBy(InlinedTwins.class, "rounds", "element", "Fruit$Apple[]", "");
        Fruit.madeBy(InlinedTwins.class, "rounds", "element", "Fruit$Pear[]", "");
        Fruit.madeBy(InlinedTwins.class, "paint", "field", "Fruit$Apple", "shade");
        Fruit.madeBy(InlinedTwins.class, "dye", "field", "Fruit$Pear", "shade");
        Workload.repeat(args, InlinedTwins::rounds);
    }
}
