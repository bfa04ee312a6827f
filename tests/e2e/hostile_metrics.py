"""An agent that lies about its JVM: counters never fall, and it has no say in whose they are."""
import re
import urllib.request

from lib import jdks, need_root, run, test, wait_until
from support.hostile import HostileDaemon, HostileJvm, batch, ended, hello
from support.profile import succeeded

COUNTERS = 58
LARGEST = 2**64 - 1
# Of the counters, one whose sum is exported: agent_ring_full.
RING_FULL = 16
BELIEVED = 2**40


def scrape(daemon):
    """Every sample of /metrics."""
    address = re.search(r"http (\S+)", daemon.output()).group(1)
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return {name: float(value) for name, value in re.findall(r"^([^#\s]\S*) (\S+)$", text, re.MULTILINE)}


def run_window(daemon, jvm):
    """Until the hostile agent has sent all, and the window has ended."""
    client = daemon.start_ctl("attach", str(jvm.pid), "--duration", "30s")
    wait_until(lambda: client.child.poll() is not None, "the end of the window")
    return client.finish()


def windows_in(samples):
    return sum(number for name, number in samples.items() if name.startswith("jxperf_windows_total"))


def counters_of(value):
    return [value if i == RING_FULL else 0 for i in range(COUNTERS)]


def assert_none_fell(before, after):
    fell = {n: (v, after.get(n)) for n, v in before.items() if "_total" in n and after.get(n, 0) < v}
    assert not fell, fell


@test
def counters_never_fall_and_the_label_is_not_the_agents():
    need_root()
    jdk = jdks()[0]
    daemon = HostileDaemon(http="127.0.0.1:0")
    jvm = HostileJvm(jdk)
    # Said: to be Shop, to have used all CPU time there is, and lost all records there can be.
    says = [
        batch((7, counters_of(BELIEVED)), (8, 1000), (9, 1000)),
        batch((7, counters_of(LARGEST)), (8, LARGEST), (9, LARGEST)),
        batch((7, counters_of(LARGEST - 1))),
    ]
    jvm.will_send(hello(b"com.example.Shop"), *says, ended())
    before = scrape(daemon)
    for windows in range(1, 4):
        run_window(daemon, jvm)
        wait_until(lambda: windows_in(scrape(daemon)) == windows, "the window's sums")  # once they are on the disk
        after = scrape(daemon)
        assert_none_fell(before, after)
        before = after
        dropped = after['jxperf_dropped_events_total{stage="agent_ring_full"}']
        assert dropped == windows * BELIEVED, (windows, dropped, daemon.output())
    # Four of a window's counts cannot be: one of each of the last two batches, and two times.
    assert before['jxperf_dropped_events_total{stage="engine_invalid"}'] == 3 * 4, before
    assert not [name for name in before if "Shop" in name], before
    assert before['jxperf_windows_total{app="Idle"}'] == 3, before
    assert '"app": "Idle"' in succeeded(daemon.ctl("--json", "windows")).replace('":"', '": "'), "the list's label"
    jvm.stop()


run()
