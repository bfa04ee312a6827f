import java.util.function.IntUnaryOperator;

/** The same fields by two lambdas and a method that is referred to, each called where no other is. */
final class InlinedLambdas {
    private static final int TURNS = 4096;

    private static final Fruit[] apples = Fruit.apples();
    private static final Fruit[] pears = Fruit.pears();
    private static final Fruit[] plums = Fruit.plums();

    private InlinedLambdas() {}

    static int third(int i) {
        Fruit f = plums[i];
        f.price = 3;
        return f.weight ^ 1;
    }

    static int rounds(int value) {
        // Named by the compiler of Java in their order.
        IntUnaryOperator first = i -> {
            Fruit f = apples[i];
            f.price = 1;
            return f.weight;
        };
        IntUnaryOperator second = i -> {
            Fruit f = pears[i];
            f.price = value == 0 ? 2 : 4;
            return f.weight ^ 2;
        };
        IntUnaryOperator last = InlinedLambdas::third;
        int one = Fruit.one;
        int at = 1;
        for (int i = 0; i < TURNS; i++) {
            at = last.applyAsInt(second.applyAsInt(first.applyAsInt(Fruit.slow(at, one))));
        }
        for (int i = 0; i < TURNS; i++) {
            at = first.applyAsInt(last.applyAsInt(second.applyAsInt(Fruit.slow(at, one))));
        }
        for (int i = 0; i < TURNS; i++) {
            at = second.applyAsInt(first.applyAsInt(last.applyAsInt(Fruit.slow(at, one))));
        }
        return value;
    }

    public static void main(String[] args) {
        String[] methods = {"lambda$rounds$0", "lambda$rounds$1", "third"};
        String[] classes = {"Fruit$Apple", "Fruit$Pear", "Fruit$Plum"};
        for (int i = 0; i < methods.length; i++) {
            Fruit.madeBy(InlinedLambdas.class, methods[i], "element", classes[i] + "[]", "");
            Fruit.madeBy(InlinedLambdas.class, methods[i], "field", classes[i], "weight");
            Fruit.madeBy(InlinedLambdas.class, methods[i], "field", classes[i], "price");
        }
        Workload.repeat(args, InlinedLambdas::rounds);
    }
}
