import java.util.concurrent.locks.LockSupport;

/** Two threads that hand a turn to and fro with park and unpark; an operation is fifty turns of each. */
final class ParkTurns {
    private static final int TURNS = 50;

    /** Odd: the other thread's turn. Only the thread whose turn it is writes it. */
    private static volatile int turn;

    private ParkTurns() {}

    private static void await(int parity) {
        while ((turn & 1) != parity) {
            LockSupport.park();
        }
    }

    private static void pass(Thread to) {
        turn = turn + 1;
        LockSupport.unpark(to);
    }

    private static void answer(Thread first) {
        while (true) {
            await(1);
            pass(first);
        }
    }

    public static void main(String[] args) {
        Thread first = Thread.currentThread();
        Thread other = new Thread(() -> answer(first));
        other.setDaemon(true);
        other.start();
        Workload.repeat(
            args,
            value -> {
                for (int i = 0; i < TURNS; i++) {
                    pass(other);
                    await(0);
                }
                return value + turn;
            });
    }
}
