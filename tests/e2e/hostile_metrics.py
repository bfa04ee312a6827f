"""An agent that lies about its JVM: counters never fall, and it has no say in whose they are. A JVM with a new name in
each window: its user's names take no label from another's."""
# Takes half a place: it waits most of the time.
import json
import os
import re
import shutil
import subprocess
import urllib.request

from lib import jdks, make_directory, need_root, note, run, test, wait_until
from support.attach import as_user
from support.hostile import HostileDaemon, HostileJvm, batch, ended, hello, real_agent
from support.profile import CLIENT, Workload, succeeded
from support.requester import ask

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
    daemon.stop()


ATTACKER, VICTIM = 61001, 61002
LABELS = 64  # METRICS_APPS_MAX
ANSWER_S = 2


def call(jvm, name):
    """It has another name from now on: any process writes what is to be its command line, of which this is the end."""
    with open(f"/proc/{jvm.pid}/stat", encoding="ascii", errors="replace") as f:
        end = int(f.read().rpartition(")")[2].split()[46])
    with open(f"/proc/{jvm.pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(end - len("Idle") - 1)
        assert memory.read(len("Idle") + 1) in (b"Idle\0", b"E%03d\0" % (int(name[1:]) - 1)), name
        memory.seek(end - len("Idle") - 1)
        memory.write(name.encode())


def labels(daemon):
    return set(re.findall(r'^jxperf_windows_total{app="(\w+)"', "\n".join(scrape(daemon)), re.MULTILINE))


@test
def the_names_of_one_users_jvms_take_no_label_from_anothers():
    need_root()
    state = make_directory()
    shutil.chown(state, user="daemon")
    daemon = HostileDaemon(http="127.0.0.1:0", state=state)
    os.chmod(daemon.socket, 0o666)
    jvm = HostileJvm(jdks()[0], "-XX:-UsePerfData", user=ATTACKER)
    jvm.will_send(hello(), ended())
    for i in range(LABELS + 1):
        call(jvm, f"E{i:03d}")
        subprocess.run(as_user(ATTACKER, CLIENT, "--socket", daemon.socket, "attach", str(jvm.pid), "--duration", "1s"),
                       capture_output=True, check=False)
    wait_until(lambda: "other" in labels(daemon), "the last of them")
    assert labels(daemon) == {f"E{i:03d}" for i in range(LABELS)} | {"other"}, labels(daemon)
    victim = Workload(jdks()[0], "SilentStore", prefix=as_user(VICTIM, "env", f"HOSTILE_REAL={real_agent()}"))
    who = as_user(VICTIM)
    window = ask(who, daemon, "attach", str(victim.pid), "--background", "--duration", "2s", "--kinds", "silent-store")[0].strip()
    ask(who, daemon, "wait", window)

    def assert_has_what_is_his():
        report, seconds = ask(who, daemon, "report", window, "--format", "json")
        note(f"the victim's report took {seconds:.2f} s")
        assert '"SilentStore"' in report and seconds < ANSWER_S, seconds
        wait_until(lambda: "SilentStore" in labels(daemon), "the victim's label")
        assert scrape(daemon)['jxperf_windows_total{app="SilentStore"}'] == 1
        assert len(labels(daemon)) == LABELS + 1, labels(daemon)  # and one of the attacker's is counted with the rest
        listed = json.loads(ask(who, daemon, "--json", "windows")[0])
        assert [w["id"] for w in listed] == [window], listed

    assert_has_what_is_his()
    daemon.stop()
    daemon = HostileDaemon(http="127.0.0.1:0", state=state)
    os.chmod(daemon.socket, 0o666)
    assert_has_what_is_his()
    # What no label was left for is counted, and the attacker has kept what is his.
    assert scrape(daemon)["jxperf_apps_over_limit_total"] >= 1
    assert succeeded(daemon.ctl("report", "w1", "--format", "json"))
    jvm.stop()
    daemon.stop()


run()
