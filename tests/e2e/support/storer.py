"""A program that stores for ever, under a name of the test's choice."""
import contextlib
import os

from lib import Process, compile_java, jdks, made_once, wait_until

SOURCE = """
public class %s {
    static volatile int sink;
    public static void main(String[] args) {
        int[] a = new int[16384];
        System.out.println("up");
        for (int n = 0;; n++) {
            for (int i = 0; i < a.length; i++)
                a[i] = n + i;
            sink = a[n & 16383];
        }
    }
}
"""
# Longest for a private daemon to notice that its client is gone.
LINGER_S = 10


@made_once
def classes(name):
    return compile_java({f"{name}.java": SOURCE % name}, kept=False)


class Storer(Process):
    """A JVM that stores for ever."""

    def __init__(self, name="Storer", *options):
        java = next(j.java for j in jdks())
        environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
        super().__init__([java, *options, "-Xmx64m", "-cp", classes(name), name], env=environment)
        self.wait_for("up")

    def perf_descriptors(self):
        found = 0
        for fd in os.listdir(f"/proc/{self.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                found += "perf_event" in os.readlink(f"/proc/{self.pid}/fd/{fd}")
        return found

    def wait_for_window(self):
        wait_until(self.perf_descriptors, "perf events in the target")

    def wait_for_end_of_window(self):
        wait_until(lambda: not self.perf_descriptors(), "no perf events in the target", LINGER_S)
