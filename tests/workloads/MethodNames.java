import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntUnaryOperator;

/**
 * Methods of all sorts for tests/e2e/method_check.c, which reads what they are called: of many classes,
 * lambdas, method handles, proxies, hidden classes, and one that is redefined while it runs.
 *
 * Arguments: the library with the native methods, how many classes are loaded beside, and how often some are
 * unloaded in the end.
 */
final class MethodNames {
    private MethodNames() {}

    private static native void check();

    private static native void stale();

    private static native void begin();

    private static native void end();

    private static native boolean redefine(Class<?> redefined, byte[] as, String running);

    /** What it returns is another number in the class that it is redefined as. */
    public static final class Redefined {
        private static final int VERSION = 41;

        private Redefined() {}

        static int waits(CountDownLatch entered, CountDownLatch leave) throws InterruptedException {
            entered.countDown();
            leave.await();
            return VERSION;
        }
    }

    /** Names beyond ASCII and beyond 16 bits. */
    static int größe\u4e16\ud840\udc00(int w) {
        return w + 1;
    }

    private static byte[] bytesOf(Class<?> c) throws Exception {
        try (InputStream in = MethodNames.class.getResourceAsStream(c.getName() + ".class")) {
            return in.readAllBytes();
        }
    }

    /** bipush 41, ireturn. */
    private static byte[] nextVersion() throws Exception {
        byte[] bytes = bytesOf(Redefined.class);
        for (int i = 0; i + 2 < bytes.length; i++) {
            if (bytes[i] == 0x10 && bytes[i + 1] == 41 && bytes[i + 2] == (byte) 0xac) {
                bytes[i + 1] = 42;
            }
        }
        return bytes;
    }

    private static void redefineRunning() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        int[] returned = new int[1];
        Thread runs = new Thread(() -> {
            try {
                returned[0] = Redefined.waits(entered, leave);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        runs.start();
        entered.await();
        boolean right = redefine(Redefined.class, nextVersion(), "waits");
        leave.countDown();
        runs.join();
        int now = Redefined.waits(new CountDownLatch(1), new CountDownLatch(0));
        System.out.println("versions " + returned[0] + " " + now + (right ? " right" : " wrong"));
    }

    /** As many as there can be, where this release has them. */
    private static List<Object> hidden(int count) throws Exception {
        List<Object> kept = new ArrayList<>();
        Class<?> option;
        try {
            option = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
        } catch (ClassNotFoundException e) {
            return kept;
        }
        Object none = Array.newInstance(option, 0);
        Method define =
                MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class, boolean.class, none.getClass());
        byte[] bytes = bytesOf(ManyClasses.Copy.class);
        for (int i = 0; i < count; i++) {
            kept.add(define.invoke(MethodHandles.lookup(), bytes, true, none));
        }
        return kept;
    }

    private static int handles() throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle max = lookup.findStatic(Math.class, "max", MethodType.methodType(int.class, int.class, int.class));
        MethodHandle chosen = MethodHandles.guardWithTest(
                MethodHandles.dropArguments(MethodHandles.constant(boolean.class, true), 0, int.class),
                MethodHandles.insertArguments(max, 0, 3),
                MethodHandles.filterReturnValue(MethodHandles.insertArguments(max, 0, 4), MethodHandles.identity(int.class)));
        int sum = 0;
        for (int i = 0; i < 2000; i++) {
            sum += (int) chosen.invokeExact(i);
        }
        return sum;
    }

    private static int lambdas() {
        int sum = 0;
        IntUnaryOperator all = IntUnaryOperator.identity();
        for (int i = 0; i < 10; i++) {
            int by = i;
            all = all.andThen(v -> v + by).andThen(MethodNames::größe\u4e16\ud840\udc00).andThen(v -> v * by);
        }
        for (int i = 0; i < 2000; i++) {
            sum += all.applyAsInt(i);
        }
        return sum;
    }

    private static int proxied() {
        Runnable r = (Runnable) Proxy.newProxyInstance(
                MethodNames.class.getClassLoader(), new Class<?>[] {Runnable.class, Comparable.class}, (p, m, a) -> null);
        r.run();
        return r.getClass().getDeclaredMethods().length;
    }

    /** Classes are loaded and unloaded, in the places of others, while they are looked at. */
    private static void comeAndGo(int rounds) throws Exception {
        Object stays = List.of(ManyClasses.load(100, 10), hidden(50));
        Object kept = List.of(ManyClasses.load(400, 10), hidden(100));
        begin();
        for (int i = 0; i < rounds; i++) {
            kept = List.of(ManyClasses.load(100 + i % 7 * 50, 1 + i % 20), hidden(i % 5 * 20));
            System.gc();
        }
        end();
        Workload.sink = kept.hashCode() + stays.hashCode();
    }

    public static void main(String[] args) throws Throwable {
        System.load(args[0]);
        Object many = ManyClasses.load(Integer.parseInt(args[1]), 100);
        Object hidden = hidden(100);
        if (!new AtomicReference<>(args).compareAndSet(args, null)) {
            throw new AssertionError("a variable handle");
        }
        System.out.println("up " + (handles() + lambdas() + proxied()));
        redefineRunning();
        check();
        Workload.sink = many.hashCode() + hidden.hashCode();
        many = null;
        hidden = null;
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(100);
        }
        many = ManyClasses.load(20, 1);
        stale();
        Workload.sink = many.hashCode();
        comeAndGo(Integer.parseInt(args[2]));
    }
}
