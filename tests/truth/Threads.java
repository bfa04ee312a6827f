/** Four threads that run the same loop, on arrays of their own of which 0%, 20%, 60% and 90% get the same value again. */
final class Threads {
    private Threads() {}

    public static void main(String[] args) {
        double[] fractions = {0, 0.2, 0.6, 0.9};
        for (int t = 0; t < fractions.length; t++) {
            MaskedLongs work = new MaskedLongs(fractions[t]);
            new Truth()
                .phase("thread " + t, work::passes)
                .stores(MaskedLongs.ACCESSES, 1, Truth.repeated(fractions[t], MaskedLongs.PASSES))
                .start();
        }
        Truth.print();
    }
}
