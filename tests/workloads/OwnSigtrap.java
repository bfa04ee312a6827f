/**
 * An application that has a SIGTRAP handler of its own: sums arrays, and sends itself SIGTRAPs every
 * 20 ms once the handler is there.
 *
 * Arguments: the JNI library; seconds until the handler is installed. Prints what became of the
 * signals every 100 ms: "sent N handled N breakpoints N others N installed true".
 */
final class OwnSigtrap {
    private static final long INTERVAL_NS = 20_000_000L;
    private static final int STATUS_EVERY = 5;

    private OwnSigtrap() {}

    static native void install();
    static native boolean isInstalled();
    static native void raise();
    static native int handled();
    static native int breakpoints();
    static native int others();

    public static void main(String[] args) {
        System.load(args[0]);
        int[] a = Workload.array();
        long start = System.nanoTime();
        long install = start + Long.parseLong(args[1]) * 1_000_000_000L;
        long next = start;
        boolean installed = false;
        int sent = 0;
        int value = 1;
        boolean up = false;

        while (true) {
            value = SilentLoad.rounds(a, value);
            long now = System.nanoTime();
            if (!installed && now >= install) {
                install();
                installed = true;
            }
            if (!up && now - start > 1_000_000_000L) {
                System.out.println("up");
                up = true;
            }
            if (!installed || now < next) {
                continue;
            }
            next = now + INTERVAL_NS;
            raise();
            sent++;
            if (sent % STATUS_EVERY == 0) {
                System.out.println("sent " + sent + " handled " + handled() + " breakpoints " + breakpoints()
                        + " others " + others() + " installed " + isInstalled());
            }
            Workload.sink = value;
        }
    }
}
