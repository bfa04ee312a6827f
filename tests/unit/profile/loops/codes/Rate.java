public class Rate {
    static int[] a = new int[1 << 16];
    static int sinkCount;
    static final class Box { int value; int n; }
    static void rare(int[] a, Box b, int key) {
        for (int i = 0; i < a.length; i++) {
            if (a[i] == key) { b.value = i; b.n += 3; }
        }
    }
    public static void main(String[] args) {
        int rate = Integer.parseInt(args[0]);
        long seconds = Long.parseLong(args[1]);
        for (int i = 0; i < a.length; i++) a[i] = i % rate;
        Box b = new Box();
        long end = System.nanoTime() + seconds * 1000000000L;
        long n = 0;
        while (System.nanoTime() < end) {
            for (int k = 0; k < 50; k++) rare(a, b, (int) ((n++ & 63) % rate));
        }
        System.out.println("calls " + n + " " + b.value + " " + b.n);
    }
}
