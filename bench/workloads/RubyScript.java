import org.jruby.RubyInstanceConfig;
import org.jruby.embed.LocalContextScope;
import org.jruby.embed.ScriptingContainer;

/** JRuby: a script that counts words, sorts them and makes objects. */
final class RubyScript {
    private static final String SCRIPT =
        "class Item\n attr_reader :name, :count\n def initialize(name)\n @name = name\n @count = 0\n end\n"
            + " def add\n @count += 1\n end\nend\n"
            + "class Round\n def run(value)\n items = {}\n"
            + "  300.times do |i|\n   name = \"word#{(i * 7919 + value) % 53}\"\n"
            + "   (items[name] ||= Item.new(name)).add\n  end\n"
            + "  all = items.values.sort_by { |item| [-item.count, item.name] }\n"
            + "  all.map { |item| item.name.length * item.count }.inject(0) { |a, b| a + b }\n end\nend\nRound.new\n";

    private RubyScript() {}

    public static void main(String[] args) {
        System.setProperty("jruby.home", "/usr/share/jruby");
        ScriptingContainer ruby = new ScriptingContainer(LocalContextScope.SINGLETHREAD);
        ruby.setCompileMode(RubyInstanceConfig.CompileMode.JIT);
        Object round = ruby.runScriptlet(SCRIPT);
        Workload.repeat(args, value -> value + ruby.callMethod(round, "run", value, Integer.class));
    }
}
