/**
 * RemoteRead, repaired: the thread that reads also allocates and initialises, so the pages lie on its
 * node. Argument: the CPU of that thread.
 */
final class LocalRead {
    private static int seed;

    private LocalRead() {}

    public static void main(String[] args) {
        Rounds.startOn(Integer.parseInt(args[0]), "reader", () -> Rounds.readFrom(() -> Rounds.fill(++seed)));
    }
}
