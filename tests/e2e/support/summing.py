"""A program that sums an array which never changes, over and over: nearly all of its loads are silent."""
from lib import compile_java

SOURCE = """
{package}
public class {name} {{
    static volatile int sink;
    static int sum(int[] a) {{ int s = 0; for (int i = 0; i < a.length; i++) s += a[i]; return s; }}
    public static void main(String[] args) throws Exception {{
        int[] a = new int[{ints}];
        System.out.println("up");
        while (true) {{
            for (int i = 0; i < 10; i++) sink = sum(a);
            {rest}
        }}
    }}
}}
"""


def summing(main_class, ints=1 << 20, rest_ms=0):
    """The directory of its classes, under a name that a rule may mean. It rests so long after ten sums."""
    package, _, name = main_class.rpartition(".")
    return compile_java({f"{name}.java": SOURCE.format(package=f"package {package};" if package else "", name=name, ints=ints,
                                                       rest=f"Thread.sleep({rest_ms});" if rest_ms else "")})
