import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Methods of which each touches known places only: named fields, static fields, elements of one type of array, headers.
 * Before anything runs it prints what each of them may touch, a line a place:
 *
 *     touch METHOD KIND CLASS FIELD DECLARED_IN TYPE
 *
 * with "-" for what a place does not have and "*" for any, and where fields lie in their objects:
 *
 *     offset DECLARED_IN FIELD BYTES
 *
 * A method whose name begins with touch_ is never inlined into others (the test sees to that), so what it touches is what its
 * compiled code does. Where two references may be to the same object, and between calls, the compiler must load and store
 * each time.
 *
 * Most of what they do is of no use, since reports list the accesses of which that is so: values stay as they are, or are
 * overwritten.
 *
 * The objects are replaced again and again, so that collections move them and their memory is used by others.
 *
 * Arguments: names of more classes, of type Extra.
 */
final class KnownPlaces {
    private static final long WARM_UP_NS = 3_000_000_000L;
    private static final int LOOP = 400;
    private static final int ARRAY = 700;
    private static final int OBJECTS = 64;
    private static final int ROUNDS_OF_OBJECTS = 200;
    private static final int GARBAGE_BYTES = 24 * 1024;
    private static final int LARGE_FLOATS = 8 * 1024;
    private static final int LARGE_LONGS = 256 * 1024;

    static volatile Object keep;
    static volatile long sink;
    private static final byte[][] GARBAGE = new byte[64][];

    private KnownPlaces() {}

    // ---------------------------------------------------------------- classes

    static class Base {
        long baseLong;
        byte baseByte;
        int baseInt;
        Object baseRef;
    }

    /** With gaps, one behind each superclass's fields. */
    static class Point extends Base {
        byte aByte;
        boolean aBoolean;
        short aShort;
        char aChar;
        int anInt;
        float aFloat;
        long aLong;
        double aDouble;
        Object ref;
        Point next;
        int[] ints;
        volatile long aVolatile;
        volatile int exchanged;
    }

    static class Point3 extends Point {
        byte last;
        /** Hides that of Base. */
        int baseInt;
    }

    static final class Sealed {
        final long constant;
        int value;
        Sealed other;

        Sealed(long constant) {
            this.constant = constant;
        }
    }

    static final class Small {
        int a;

        Small(int a) {
            this.a = a;
        }
    }

    static final class Large {
        long a;
        long b;
        long c;
        int d;
        Object e;

        Large(long value, Object e) {
            a = value;
            b = value + 1;
            c = value + 2;
            d = (int) value;
            this.e = e;
        }
    }

    static final class Statics {
        static byte aByte;
        static short aShort;
        static int anInt;
        static long aLong;
        static float aFloat;
        static double aDouble;
        static Object ref;
        static boolean aBoolean;
        static volatile long aVolatile;

        private Statics() {}
    }

    /** Further classes, those that JDK 11 cannot compile. */
    interface Extra {
        void declare();

        long run(int n);
    }

    interface Captured {
        long touch_captured(int n);
    }

    // ---------------------------------------------------------------- what is touched where

    private static void line(String method, String kind, String of, String field, String declared, String type) {
        System.out.println("touch " + method + " " + kind + " " + of + " " + field + " " + declared + " " + type);
    }

    private static Field find(Class<?> of, String name) {
        for (Class<?> c = of; c != null; c = c.getSuperclass()) {
            for (Field f : c.getDeclaredFields()) {
                if (f.getName().equals(name)) {
                    return f;
                }
            }
        }
        throw new IllegalArgumentException(of + " has no " + name);
    }

    static void field(String method, Class<?> of, String... names) {
        for (String name : names) {
            Field f = find(of, name);
            line(method, "field", of.getName(), name, f.getDeclaringClass().getName(), f.getType().getTypeName());
            offset(f);
        }
    }

    /** Where it lies, unless this JVM does not tell. */
    private static void offset(Field f) {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field the = unsafe.getDeclaredField("theUnsafe");
            the.setAccessible(true);
            Object at = unsafe.getMethod("objectFieldOffset", Field.class).invoke(the.get(null), f);
            System.out.println("offset " + f.getDeclaringClass().getName() + " " + f.getName() + " " + at);
        } catch (ReflectiveOperationException e) {
            System.out.println("no offset of " + f + ": " + e);
        }
    }

    static void statics(String method, Class<?> of, String name) {
        Field f = find(of, name);
        line(method, "static", of.getName(), name, f.getDeclaringClass().getName(), f.getType().getTypeName());
    }

    /** Elements of such arrays, and their lengths. */
    static void elements(String method, Class<?>... arrays) {
        for (Class<?> array : arrays) {
            line(method, "element", array.getTypeName(), "-", "-", array.getComponentType().getTypeName());
            header(method, "length", array);
        }
    }

    static void header(String method, String word, Class<?>... classes) {
        for (Class<?> c : classes) {
            line(method, "header", c.getTypeName(), word, "-", "*");
        }
    }

    /** The class of an object: with compact headers it is a part of the mark word. */
    static void classWord(String method, Class<?>... classes) {
        header(method, "class", classes);
        header(method, "mark", classes);
    }

    static void anything(String method, Class<?>... classes) {
        for (Class<?> c : classes) {
            line(method, "*", c.getTypeName(), "*", "*", "*");
        }
    }

    private static void declare() {
        for (String name : new String[] {"baseLong", "baseByte", "baseInt", "baseRef", "aByte", "aBoolean", "aShort", "aChar",
                "anInt", "aFloat", "aLong", "aDouble", "ref", "aVolatile"}) {
            field("touch_Point_" + name, Point.class, name);
            field("touch_load_" + name, Point.class, name);
        }
        field("touch_new_ref", Point.class, "ref");
        field("touch_Point3_anInt", Point3.class, "anInt");
        field("touch_Point3_last", Point3.class, "last");
        line("touch_hidden", "field", Point3.class.getName(), "baseInt", Point3.class.getName(), "int");
        line("touch_hiding", "field", Point3.class.getName(), "baseInt", Base.class.getName(), "int");
        field("touch_next", Point.class, "next");
        field("touch_ints", Point.class, "ints");
        elements("touch_ints", int[].class);
        field("touch_cas", Point.class, "exchanged");
        field("touch_add", Point.class, "aVolatile");
        field("touch_atomic", AtomicLong.class, "value");
        field("touch_constant", Sealed.class, "constant");
        field("touch_sealed", Sealed.class, "value");
        field("touch_sealed_other", Sealed.class, "other");
        field("touch_points", Point.class, "aLong");
        elements("touch_points", Point[].class);
        for (String name : new String[] {"aByte", "aShort", "anInt", "aLong", "aFloat", "aDouble", "ref", "aBoolean", "aVolatile"}) {
            statics("touch_static_" + name, Statics.class, name);
        }
        elements("touch_bytes", byte[].class);
        elements("touch_shorts", short[].class);
        elements("touch_chars", char[].class);
        elements("touch_ints_sum", int[].class);
        elements("touch_ints_fill", int[].class);
        elements("touch_longs", long[].class);
        elements("touch_floats", float[].class);
        elements("touch_doubles", double[].class);
        elements("touch_doubles_fill", double[].class);
        elements("touch_booleans", boolean[].class);
        elements("touch_copy", long[].class);
        elements("touch_copy_bytes", byte[].class);
        elements("touch_copy_floats", float[].class);
        elements("touch_copy_refs", Object[].class);
        classWord("touch_copy_refs", Object[].class);
        elements("touch_backwards", long[].class);
        elements("touch_strided", long[].class);
        elements("touch_derived", int[].class);
        elements("touch_large", long[].class);
        elements("touch_nested", long[][].class, long[].class);
        elements("touch_refs", Object[].class);
        classWord("touch_refs", Object[].class, Small.class);
        elements("touch_refs_load", Object[].class);
        elements("touch_point_array", Point[].class);
        for (Class<?> c : new Class<?>[] {int[].class, Object[].class, Point[].class, byte[].class}) {
            header("touch_length", "length", c);
            header("touch_length", "class", c);
            header("touch_length", "mark", c);
        }
        classWord("touch_class", Small.class, Large.class, Sealed.class);
        header("touch_mark", "mark", Small.class);
        header("touch_lock", "mark", Small.class);
        anything("touch_new_small", Small.class, Small[].class);
        anything("touch_new_large", Large.class, Large[].class);
        anything("touch_new_bytes", byte[].class, byte[][].class);
        // The one is inlined into the other.
        line("touch_captured", "field", "KnownPlaces$$Lambda*", "arg$1", "KnownPlaces$$Lambda*", "long[]");
        line("lambda$capture$0", "field", "KnownPlaces$$Lambda*", "arg$1", "KnownPlaces$$Lambda*", "long[]");
        line("touch_captured", "header", "KnownPlaces$$Lambda*", "*", "-", "*");
        elements("lambda$capture$0", long[].class);
    }

    // ---------------------------------------------------------------- touching

    /** A call behind which everything must be loaded and before which everything must be stored. */
    static void touch_nothing() {}

    static void touch_Point_baseLong(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.baseLong = q.baseLong + 1;
        }
    }

    static void touch_Point_baseByte(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.baseByte = (byte) (q.baseByte + 1);
        }
    }

    static void touch_Point_baseInt(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.baseInt = q.baseInt + 1;
        }
    }

    static void touch_Point_baseRef(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.baseRef = q.baseRef;
        }
    }

    static void touch_Point_aByte(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.aByte = (byte) (q.aByte + 1);
        }
    }

    static void touch_Point_aBoolean(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.aBoolean = !q.aBoolean;
        }
    }

    static void touch_Point_aShort(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.aShort = (short) (q.aShort + 1);
        }
    }

    static void touch_Point_aChar(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.aChar = (char) (q.aChar + 1);
        }
    }

    static void touch_Point_anInt(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.anInt = q.anInt + 1;
        }
    }

    static void touch_Point_aFloat(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.aFloat = q.aFloat + 1;
        }
    }

    static void touch_Point_aLong(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.aLong = q.aLong + 1;
        }
    }

    static void touch_Point_aDouble(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.aDouble = q.aDouble + 1;
        }
    }

    static void touch_Point_ref(Point p, Point q) {
        for (int i = 0; i < LOOP; i++) {
            p.ref = q.ref;
        }
    }

    static void touch_Point_aVolatile(Point p, Point q) {
        for (int i = 0; i < LOOP / 8; i++) {
            p.aVolatile = q.aVolatile + 1;
        }
    }

    static long touch_load_baseLong(Point p) {
        return p.baseLong;
    }

    static long touch_load_baseByte(Point p) {
        return p.baseByte;
    }

    static long touch_load_baseInt(Point p) {
        return p.baseInt;
    }

    static long touch_load_baseRef(Point p) {
        return p.baseRef == null ? 1 : 2;
    }

    static long touch_load_aByte(Point p) {
        return p.aByte;
    }

    static long touch_load_aBoolean(Point p) {
        return p.aBoolean ? 1 : 2;
    }

    static long touch_load_aShort(Point p) {
        return p.aShort;
    }

    static long touch_load_aChar(Point p) {
        return p.aChar;
    }

    static long touch_load_anInt(Point p) {
        return p.anInt;
    }

    static long touch_load_aFloat(Point p) {
        return (long) p.aFloat;
    }

    static long touch_load_aLong(Point p) {
        return p.aLong;
    }

    static long touch_load_aDouble(Point p) {
        return (long) p.aDouble;
    }

    /** Of an object that was allocated just now. */
    static void touch_new_ref(Point p, Object a, Object b) {
        for (int i = 0; i < LOOP; i++) {
            p.ref = (i & 1) == 0 ? a : b;
            touch_nothing();
        }
    }

    static long touch_load_ref(Point p) {
        return p.ref == null ? 1 : 2;
    }

    static long touch_load_aVolatile(Point p) {
        return p.aVolatile;
    }

    static void touch_Point3_anInt(Point3 p, Point3 q) {
        for (int i = 0; i < LOOP; i++) {
            p.anInt = q.anInt + 1;
        }
    }

    static void touch_Point3_last(Point3 p, Point3 q) {
        for (int i = 0; i < LOOP; i++) {
            p.last = (byte) (q.last + 1);
        }
    }

    static void touch_hidden(Point3 p, Point3 q) {
        for (int i = 0; i < LOOP; i++) {
            p.baseInt = q.baseInt + 1;
        }
    }

    static void touch_hiding(Point3 p, Point3 q) {
        for (int i = 0; i < LOOP; i++) {
            ((Base) p).baseInt = ((Base) q).baseInt + 1;
        }
    }

    static Point touch_next(Point p) {
        Point at = p;
        for (int i = 0; i < LOOP; i++) {
            at = at.next;
        }
        return at;
    }

    static long touch_ints(Point p) {
        long sum = 0;
        for (int i = 0; i < ARRAY; i++) {
            sum += p.ints[i];
            touch_nothing();
        }
        return sum;
    }

    private static final VarHandle EXCHANGED;
    private static final VarHandle VOLATILE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            EXCHANGED = lookup.findVarHandle(Point.class, "exchanged", int.class);
            VOLATILE = lookup.findVarHandle(Point.class, "aVolatile", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static void touch_cas(Point p) {
        for (int i = 0; i < LOOP / 16; i++) {
            int old = p.exchanged;
            EXCHANGED.compareAndSet(p, old, old | 1);
        }
    }

    static void touch_add(Point p, long add) {
        for (int i = 0; i < LOOP / 4; i++) {
            VOLATILE.getAndAdd(p, add);
        }
    }

    static void touch_atomic(AtomicLong counter, long add) {
        for (int i = 0; i < LOOP / 4; i++) {
            counter.addAndGet(add);
        }
    }

    static long touch_constant(Sealed s) {
        return s.constant;
    }

    static void touch_sealed(Sealed s, Sealed t) {
        for (int i = 0; i < LOOP; i++) {
            s.value = t.value + 1;
        }
    }

    static Sealed touch_sealed_other(Sealed s) {
        Sealed at = s;
        for (int i = 0; i < LOOP / 4; i++) {
            at = at.other;
        }
        return at;
    }

    static void touch_points(Point[] points, long value) {
        for (int i = 0; i < points.length; i++) {
            points[i].aLong = value;
        }
    }

    static void touch_static_aByte(long v) {
        Statics.aByte += v;
    }

    static void touch_static_aShort(long v) {
        Statics.aShort += v;
    }

    static void touch_static_anInt(long v) {
        Statics.anInt += v;
    }

    static void touch_static_aLong(long v) {
        Statics.aLong += v;
    }

    static void touch_static_aFloat(long v) {
        Statics.aFloat += v;
    }

    static void touch_static_aDouble(long v) {
        Statics.aDouble += v;
    }

    static void touch_static_ref(Object o) {
        Statics.ref = Statics.ref == o ? o : null;
    }

    static void touch_static_aBoolean(boolean other) {
        Statics.aBoolean = Statics.aBoolean || other;
    }

    static void touch_static_aVolatile(long v) {
        for (int i = 0; i < LOOP / 8; i++) {
            Statics.aVolatile = Statics.aVolatile + v;
        }
    }

    static void touch_bytes(byte[] a, byte[] b) {
        for (int i = 0; i < a.length; i++) {
            a[i] = (byte) (b[i] + 1);
        }
    }

    static void touch_shorts(short[] a, short[] b) {
        for (int i = 0; i < a.length; i++) {
            a[i] = (short) (b[i] * 3);
        }
    }

    static void touch_chars(char[] a, char[] b) {
        for (int i = 0; i < a.length; i++) {
            a[i] = (char) (b[i] ^ 1);
        }
    }

    static long touch_ints_sum(int[] a) {
        int sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i];
        }
        return sum;
    }

    static void touch_ints_fill(int[] a, int v) {
        Arrays.fill(a, v);
    }

    static void touch_longs(long[] a, long[] b) {
        for (int i = 0; i < a.length; i++) {
            a[i] = b[i] + 1;
        }
    }

    static void touch_floats(float[] a, float[] b) {
        for (int i = 0; i < a.length; i++) {
            a[i] = b[i] * 0.5f + 1;
        }
    }

    static void touch_doubles(double[] a, double[] b) {
        for (int i = 0; i < a.length; i++) {
            a[i] = b[i] * 0.5 + 1;
        }
    }

    static void touch_doubles_fill(double[] a, double v) {
        Arrays.fill(a, v);
    }

    static void touch_booleans(boolean[] a, boolean[] b) {
        for (int i = 0; i < a.length; i++) {
            a[i] = !b[i];
        }
    }

    static void touch_copy(long[] a, long[] b) {
        System.arraycopy(a, 0, b, 0, a.length);
    }

    static void touch_copy_bytes(byte[] a, byte[] b) {
        System.arraycopy(a, 1, b, 0, a.length - 1);
    }

    /** Long ones: of the array itself the loop around may hold no more than where its elements begin. */
    static void touch_copy_floats(float[] a, float[] b, float[] to) {
        for (int i = 0; i < 2; i++) {
            System.arraycopy(a, 0, to, 0, to.length);
            System.arraycopy(b, 0, to, 0, to.length);
        }
    }

    static void touch_copy_refs(Object[] a, Object[] to) {
        System.arraycopy(a, 0, to, 0, to.length);
    }

    static void touch_backwards(long[] a) {
        for (int i = a.length - 2; i >= 0; i--) {
            a[i + 1] = a[i] + i;
        }
    }

    static long touch_strided(long[] a) {
        long sum = 0;
        for (int i = 0; i < 4 * ARRAY; i += 9) {
            sum = sum * 31 + a[i];
        }
        return sum;
    }

    /** Four places of one array at a time: few registers hold its beginning. */
    static int touch_derived(int[] a, int x, int y, int z) {
        int n = a.length / 4;
        int sum = 0;
        for (int i = 0; i < n; i++) {
            a[i] += x;
            a[n + i] += y;
            a[2 * n + i] += z;
            sum += a[3 * n + i];
        }
        return sum;
    }

    /** Of several MiB, so far from its header. */
    static void touch_large(long[] a, int start, long v) {
        int end = Math.min(a.length, start + ARRAY);
        for (int i = start; i < end; i++) {
            a[i] = v + i;
        }
    }

    static long touch_nested(long[][] a) {
        long sum = 0;
        for (int i = 0; i < a.length; i++) {
            for (int j = 0; j < a[i].length; j++) {
                sum = sum * 31 + a[i][j];
            }
        }
        return sum;
    }

    static void touch_refs(Object[] a, Object o) {
        for (int i = 0; i < a.length; i++) {
            a[i] = o;
        }
    }

    static int touch_refs_load(Object[] a, Object o) {
        int same = 0;
        for (int i = 0; i < a.length; i++) {
            same += a[i] == o ? 1 : 0;
        }
        return same;
    }

    static int touch_point_array(Point[] a, Point p) {
        int same = 0;
        for (int i = 0; i < a.length; i++) {
            same += a[i] == p ? 1 : 0;
        }
        return same;
    }

    static int touch_length(Object a) {
        return a instanceof int[] ? ((int[]) a).length : a instanceof byte[] ? ((byte[]) a).length : ((Object[]) a).length;
    }

    static int touch_class(Object o) {
        return o.getClass() == Small.class ? 1 : o.getClass() == Large.class ? 2 : 3;
    }

    static int touch_mark(Small s) {
        return System.identityHashCode(s);
    }

    static void touch_lock(Small s) {
        for (int i = 0; i < 20; i++) {
            synchronized (s) {
                touch_nothing();
            }
        }
    }

    /** Their memory is that of other objects, which may still look like such. */
    static Object touch_new_small(int n) {
        Small[] all = new Small[n];
        for (int i = 0; i < n; i++) {
            all[i] = new Small(i);
        }
        return all;
    }

    static Object touch_new_large(int n, Object e) {
        Large[] all = new Large[n];
        for (int i = 0; i < n; i++) {
            all[i] = new Large(i, e);
        }
        return all;
    }

    static Object touch_new_bytes(int n, int length) {
        byte[][] all = new byte[n][];
        for (int i = 0; i < n; i++) {
            all[i] = new byte[length + (i & 31)];
        }
        return all;
    }

    // ---------------------------------------------------------------- the program

    private final Point[] points = new Point[OBJECTS];
    private final Point3[] points3 = new Point3[OBJECTS];
    private final Sealed[] sealed = new Sealed[OBJECTS];
    private final AtomicLong counter = new AtomicLong();
    private Object[] headers;
    private Small small;
    private Object[] refs;
    private Object[] refs2;
    private long[][] nested;
    private float[] copied;
    private float[] copied2;
    private float[] copy;
    private final long[] large = new long[LARGE_LONGS];
    private byte[] bytes;
    private byte[] bytes2;
    private short[] shorts;
    private short[] shorts2;
    private char[] chars;
    private char[] chars2;
    private int[] ints;
    private long[] longs;
    private long[] longs2;
    private float[] floats;
    private float[] floats2;
    private double[] doubles;
    private double[] doubles2;
    private boolean[] booleans;
    private boolean[] booleans2;
    private Captured captured;
    private final List<Extra> extras = new ArrayList<>();

    private void replace() {
        for (int i = 0; i < OBJECTS; i++) {
            points[i] = new Point();
            points3[i] = new Point3();
            sealed[i] = new Sealed(i);
        }
        for (int i = 0; i < OBJECTS; i++) {
            points[i].next = points[(i * 7 + 1) % OBJECTS];
            points[i].ints = new int[ARRAY];
            sealed[i].other = sealed[(i * 5 + 1) % OBJECTS];
        }
        small = new Small(1);
        headers = new Object[] {small, new Large(1, small), new Sealed(1)};
        refs = new Object[ARRAY];
        refs2 = new Object[ARRAY];
        nested = new long[8][100];
        copied = new float[LARGE_FLOATS];
        copied2 = new float[LARGE_FLOATS];
        copy = new float[LARGE_FLOATS];
        bytes = new byte[ARRAY];
        bytes2 = new byte[ARRAY];
        shorts = new short[ARRAY];
        shorts2 = new short[ARRAY];
        chars = new char[ARRAY];
        chars2 = new char[ARRAY];
        ints = new int[ARRAY];
        longs = new long[ARRAY];
        longs2 = new long[ARRAY];
        floats = new float[ARRAY];
        floats2 = new float[ARRAY];
        doubles = new double[ARRAY];
        doubles2 = new double[ARRAY];
        booleans = new boolean[ARRAY];
        booleans2 = new boolean[ARRAY];
        captured = capture(longs);
    }

    private static Captured capture(long[] a) {
        return n -> {
            long sum = 0;
            for (int i = 0; i < n; i++) {
                sum = sum * 31 + a[i];
            }
            return sum;
        };
    }

    private static long loads(Point p) {
        long sum = 0;
        for (int i = 0; i < LOOP / 8; i++) {
            sum += touch_load_baseLong(p);
            sum += touch_load_baseByte(p);
            sum += touch_load_baseInt(p);
            sum += touch_load_baseRef(p);
            sum += touch_load_aByte(p);
            sum += touch_load_aBoolean(p);
            sum += touch_load_aShort(p);
            sum += touch_load_aChar(p);
            sum += touch_load_anInt(p);
            sum += touch_load_aFloat(p);
            sum += touch_load_aLong(p);
            sum += touch_load_aDouble(p);
            sum += touch_load_ref(p);
            sum += touch_load_aVolatile(p);
        }
        return sum;
    }

    private static void stores(Point p, Point q, Point3 r, Point3 s) {
        touch_Point_baseLong(p, q);
        touch_Point_baseByte(p, q);
        touch_Point_baseInt(p, q);
        touch_Point_baseRef(p, q);
        touch_Point_aByte(p, q);
        touch_Point_aBoolean(p, q);
        touch_Point_aShort(p, q);
        touch_Point_aChar(p, q);
        touch_Point_anInt(p, q);
        touch_Point_aFloat(p, q);
        touch_Point_aLong(p, q);
        touch_Point_aDouble(p, q);
        touch_Point_ref(p, q);
        touch_Point_aVolatile(p, q);
        touch_Point3_anInt(r, s);
        touch_Point3_last(r, s);
        touch_hidden(r, s);
        touch_hiding(r, s);
    }

    private static void statics(Object o) {
        for (int i = 0; i < LOOP / 4; i++) {
            touch_static_aByte(i & 1);
            touch_static_aShort(i & 1);
            touch_static_anInt(i & 1);
            touch_static_aLong(i & 1);
            touch_static_aFloat(i & 1);
            touch_static_aDouble(i & 1);
            touch_static_ref(o);
            touch_static_aBoolean(false);
        }
        touch_static_aVolatile(0);
    }

    private long arrays(int round) {
        touch_bytes(bytes, bytes2);
        touch_shorts(shorts, shorts2);
        touch_chars(chars, chars2);
        touch_ints_fill(ints, round & 3);
        touch_longs(longs, longs2);
        touch_floats(floats, floats2);
        touch_doubles(doubles, doubles2);
        touch_doubles_fill(doubles2, round & 3);
        touch_booleans(booleans, booleans2);
        touch_copy(longs, longs2);
        touch_copy_bytes(bytes, bytes2);
        if (round % 8 == 0) {
            touch_copy_floats(copied, copied2, copy);
        }
        touch_copy_refs(refs, refs2);
        touch_backwards(longs);
        touch_large(large, Math.floorMod(round * 7919, LARGE_LONGS - ARRAY), round);
        touch_refs(refs, small);
        return touch_ints_sum(ints) + touch_strided(large) / 3 + touch_nested(nested) + touch_derived(ints, 1, round, 3)
            + touch_refs_load(refs, small) + touch_point_array(points, points[1]);
    }

    private long headers() {
        long sum = 0;
        Object[] arrays = {ints, refs, points, bytes};
        for (int i = 0; i < LOOP / 4; i++) {
            sum += touch_length(arrays[i & 3]);
            sum += touch_class(headers[i % 3]);
            sum += touch_mark(small);
        }
        touch_lock((Small) refs[3]);
        return sum;
    }

    private long one(int round) {
        int i = round % OBJECTS;
        int j = (round + 1) % OBJECTS;
        stores(points[i], points[j], points3[i], points3[j]);
        long sum = loads(points[i]);
        statics(small);
        sum += arrays(round);
        sum += headers();
        points[i] = round % 3 == 0 ? touch_next(points[i]) : points[i];
        sum += touch_ints(points[i]);
        touch_cas(points[i]);
        touch_add(points[i], 0);
        touch_atomic(counter, 0);
        for (int k = 0; k < LOOP / 8; k++) {
            sum += touch_constant(sealed[k % OBJECTS]);
        }
        Point p = new Point();
        keep = p;
        touch_new_ref(p, small, p);
        touch_sealed(sealed[i], sealed[j]);
        sealed[i] = touch_sealed_other(sealed[i]);
        touch_points(points, round);
        sum += captured.touch_captured(ARRAY);
        keep = touch_new_small(300);
        keep = touch_new_large(150, small);
        keep = touch_new_bytes(150, 40);
        for (Extra extra : extras) {
            sum += extra.run(LOOP);
        }
        return sum;
    }

    private void run(String[] more) throws ReflectiveOperationException {
        for (String name : more) {
            Extra extra = (Extra) Class.forName(name).getDeclaredConstructor().newInstance();
            extra.declare();
            extras.add(extra);
        }
        long start = System.nanoTime();
        boolean up = false;
        for (int round = 0; ; round = (round + 1) & 0xfffff) {
            if (round % ROUNDS_OF_OBJECTS == 0) {
                replace();
            }
            sink += one(round);
            GARBAGE[round % GARBAGE.length] = new byte[GARBAGE_BYTES];
            if (!up && System.nanoTime() - start > WARM_UP_NS) {
                System.out.println("up");
                up = true;
            }
        }
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        declare();
        new KnownPlaces().run(args);
    }
}
