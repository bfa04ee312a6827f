import java.net.URI;
import java.util.Collections;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** javac: a class of some methods is compiled, up to what would be written. */
final class JavacCompile {
    private static final int METHODS = 40;

    private JavacCompile() {}

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    private static String source(int value) {
        StringBuilder text = new StringBuilder("import java.util.*;\nclass Made {\n");
        for (int i = 0; i < METHODS; i++) {
            text.append("  static int m" + i + "(List<String> l, Map<Integer, String> m, int n) {\n");
            text.append("    int sum = " + (value & 1023) + ";\n");
            text.append("    for (String s : l) { sum += s.length() * n + m.getOrDefault(n, \"none\").hashCode(); }\n");
            text.append("    return n > 3 ? m" + (i + 1) % METHODS + "(l, m, n - 1) + sum : sum;\n  }\n");
        }
        return text.append("}\n").toString();
    }

    private static int compile(JavaCompiler compiler, int value) {
        List<JavaFileObject> units = Collections.singletonList(new Source("Made", source(value)));
        List<String> options = List.of("-proc:none", "-Xlint:none", "-XDshould-stop.ifNoError=FLOW");
        return compiler.getTask(null, null, null, options, null, units).call() ? value + 1 : 0;
    }

    public static void main(String[] args) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Workload.repeat(args, value -> compile(compiler, value));
    }
}
