/** Getters and setters in a row, of which those of one name are for apples, and those of another for pears. */
final class InlinedGetters {
    private static final int TURNS = 4096;

    private static final Fruit[] apples = Fruit.apples();
    private static final Fruit[] pears = Fruit.pears();

    private InlinedGetters() {}

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
            Fruit f = apples[Fruit.slow(at, one)];
            paint(f, one);
            at = (weightOf(f) + priceOf(f) + codeOf(f)) % Fruit.COUNT;
        }
        for (int i = 0; i < TURNS; i++) {
            Fruit g = pears[Fruit.slow(at, one)];
            at = (heft(g) ^ label(g)) + cost(g);
            dye(g, one);
        }
        for (int i = 0; i < TURNS; i++) {
            Fruit f = apples[at];
            at = weightOf(f) + Fruit.slow(priceOf(f), one);
            at = label(pears[at]);
        }
        for (int i = 0; i < TURNS; i++) {
            at = codeOf(apples[heft(pears[at])]);
        }
        return value;
    }

    public static void main(String[] args) {
        String[] fields = {"weight", "price", "code"};
        String[] ofApples = {"weightOf", "priceOf", "codeOf"};
        String[] ofPears = {"heft", "cost", "label"};
        for (int i = 0; i < fields.length; i++) {
            Fruit.madeBy(InlinedGetters.class, ofApples[i], "field", "Fruit$Apple", fields[i]);
            Fruit.madeBy(InlinedGetters.class, ofPears[i], "field", "Fruit$Pear", fields[i]);
        }
        Fruit.madeBy(InlinedGetters.class, "rounds", "element", "Fruit$Apple[]", "");
        Fruit.madeBy(InlinedGetters.class, "rounds", "element", "Fruit$Pear[]", "");
        Fruit.madeBy(InlinedGetters.class, "paint", "field", "Fruit$Apple", "shade");
        Fruit.madeBy(InlinedGetters.class, "dye", "field", "Fruit$Pear", "shade");
        Workload.repeat(args, InlinedGetters::rounds);
    }
}
