import org.python.core.PyCode;
import org.python.core.PyInteger;
import org.python.util.PythonInterpreter;

/** Jython: a Python program of lists, dictionaries and arithmetic. */
final class JythonScript {
    private static final String PROGRAM =
        "def primes(n):\n"
            + "    sieve = [True] * n\n"
            + "    for i in range(2, int(n ** 0.5) + 1):\n"
            + "        if sieve[i]:\n"
            + "            for j in range(i * i, n, i):\n"
            + "                sieve[j] = False\n"
            + "    return [i for i in range(2, n) if sieve[i]]\n"
            + "def digits(ps):\n"
            + "    counts = {}\n"
            + "    for p in ps:\n"
            + "        for d in str(p):\n"
            + "            counts[d] = counts.get(d, 0) + 1\n"
            + "    return sum(counts.values())\n";

    private JythonScript() {}

    public static void main(String[] args) {
        PythonInterpreter python = new PythonInterpreter();
        python.exec(PROGRAM);
        PyCode call = python.compile("digits(primes(3000)) + seed");
        Workload.repeat(
            args,
            value -> {
                python.set("seed", new PyInteger(value & 1023));
                return python.eval(call).asInt();
            });
    }
}
