import java.lang.reflect.Field;
import sun.misc.Unsafe;

/** Arrays of numbers that look like the headers of other objects, for KnownPlaces. */
public final class Lookalikes implements KnownPlaces.Extra {
    private static final int LONGS = 8 * 1024;

    private final long[] a = new long[LONGS];
    private final long[] b = new long[LONGS];

    @SuppressWarnings("deprecation")
    public Lookalikes() throws ReflectiveOperationException {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        int[] other = new int[2 * LONGS];
        for (int i = 0; i < LONGS; i++) {
            a[i] = unsafe.getLong(other, 8L * (i % 2));
        }
    }

    @Override
    public void declare() {
        for (String method : new String[] {"touch_look_sum", "touch_look_loop", "touch_look_part", "touch_look_copy", "touch_look_four"}) {
            KnownPlaces.elements(method, long[].class);
        }
    }

    static long touch_look_sum(long[] a) {
        long sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i];
        }
        return sum;
    }

    static void touch_look_loop(long[] a, long[] b) {
        for (int i = 0; i < a.length; i++) {
            b[i] = a[i];
        }
    }

    static void touch_look_part(long[] a, long[] b, int from) {
        System.arraycopy(a, from, b, from, a.length - from - 100);
    }

    static void touch_look_copy(long[] a, long[] b) {
        for (int i = 0; i < 4; i++) {
            System.arraycopy(a, 0, b, 0, a.length);
        }
    }

    static void touch_look_four(long[] a) {
        int n = a.length / 4;
        for (int i = 0; i < n; i++) {
            long x = a[i];
            long y = a[n + i];
            a[i] = a[2 * n + i];
            a[n + i] = a[3 * n + i];
            a[2 * n + i] = x;
            a[3 * n + i] = y;
        }
    }

    @Override
    public long run(int n) {
        touch_look_loop(a, b);
        touch_look_part(a, b, 2 * (n % 50));
        touch_look_copy(a, b);
        touch_look_four(b);
        return touch_look_sum(a) + touch_look_sum(b);
    }
}
