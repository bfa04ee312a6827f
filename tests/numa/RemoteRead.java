import java.util.concurrent.SynchronousQueue;

/**
 * One thread allocates and initialises, another one, on the other node, reads: nearly every access is
 * remote. Arguments: the CPU of the initialising thread, the CPU of the reading one.
 */
final class RemoteRead {
    private RemoteRead() {}

    public static void main(String[] args) {
        SynchronousQueue<int[][]> handOver = new SynchronousQueue<>();
        Rounds.startOn(Integer.parseInt(args[0]), "initialiser", () -> Rounds.fillFor(handOver));
        Rounds.startOn(Integer.parseInt(args[1]), "reader", () -> Rounds.readFrom(handOver::take));
    }
}
