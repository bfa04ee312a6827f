/** What the methods of Inlined*.java access. Each of them is given fruits of one class only, so the class of what was
 * accessed tells who did it, where bytecodes that name a field of Fruit cannot. Their weights and codes are numbers of other fruits, so that
 * a program that goes from one to the next waits for each of its accesses, and samples meet all of them. */
abstract class Fruit {
    int weight;
    int price;
    int code;
    int shade;

    static final int COUNT = 512;
    /** 1, which the compiler must not know. */
    static int one = 1;

    Fruit(int i) {
        weight = (i * 5 + 17) % COUNT;
        code = (i * 13 + 5) % COUNT;
    }

    /** Says that no other method has such accesses: class, method, kind, class and field. */
    static void madeBy(Class<?> of, String method, String kind, String location, String field) {
        System.out.println("made " + of.getName() + " " + method + " " + kind + " " + location + " " + field);
    }

    static final class Apple extends Fruit {
        Apple(int i) {
            super(i);
        }
    }

    static final class Pear extends Fruit {
        Pear(int i) {
            super(i);
        }
    }

    static final class Plum extends Fruit {
        Plum(int i) {
            super(i);
        }
    }

    /** Gives a number back, late; what is accessed next is what samples meet. */
    static int slow(int number, int one) {
        return number / one / one / one;
    }

    static Apple[] apples() {
        Apple[] all = new Apple[COUNT];
        for (int i = 0; i < COUNT; i++) {
            all[i] = new Apple(i);
        }
        return all;
    }

    static Pear[] pears() {
        Pear[] all = new Pear[COUNT];
        for (int i = 0; i < COUNT; i++) {
            all[i] = new Pear(i);
        }
        return all;
    }

    static Plum[] plums() {
        Plum[] all = new Plum[COUNT];
        for (int i = 0; i < COUNT; i++) {
            all[i] = new Plum(i);
        }
        return all;
    }
}
