#!/usr/bin/env python3
"""Windows that are sent to a server: each arrives, whatever server, network and daemon do."""
# Takes half a place: it waits most of the time.
import base64
import contextlib
import fcntl
import gzip
import json
import os
import random
import signal
import subprocess
import time

from lib import jdks, make_directory, need_root, note, run, test, wait_until
from support.profile import Workload, report_of, succeeded
from support.receiver import Receiver, Sender, certificate


def workload():
    return Workload(jdks()[0], "DeadStore")


@test
def a_window_that_ends_arrives_and_its_numbers_are_told():
    target = workload()
    with Receiver() as receiver:
        daemon = Sender(receiver.url)
        report = report_of(daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))
        receiver.wait_for(1)
        ((host, store, number),) = receiver.windows
        assert f"w{number}" == report["window"]["id"] and host == "h1" and len(store) == 32, receiver.windows
        wait_until(lambda: daemon.metric("jxperf_export_sent_total", destination="there") == 1, "the count of it")
        assert daemon.metric("jxperf_export_queue_windows", destination="there") == 0
        assert daemon.metric("jxperf_export_sent_bytes_total", destination="there") > 50
        (there,) = json.loads(succeeded(daemon.ctl("--json", "status")))["exports"]
        assert (there["name"], there["sent"], there["waiting"], there["failing"]) == ("there", 1, 0, ""), there
        assert "to 'there' (lines): 1 windows sent, 0 wait" in succeeded(daemon.ctl("status"))


def fails_once_with(answer, reason, *extra, filled=3, url=None, tls=None):
    """Sends windows to a server whose first answer is answer's: it is tried again, and all arrive, each key once more
    at most. Returns the daemon's log."""
    answered = []

    def first(handler, body):
        answered.append(time.monotonic())
        return answer(handler, body) if len(answered) == 1 else True

    with Receiver(first, tls=tls) as receiver:
        lines = "\n".join(["name: there", f"clickhouse: {url or receiver.url}", *extra])
        daemon = Sender(lines, filled=filled)
        receiver.wait_for(filled)
        wait_until(lambda: daemon.metric("jxperf_export_queue_windows", destination="there") == 0, "an empty queue")
        assert daemon.metric("jxperf_export_failed_total", destination="there", reason=reason) == 1, reason
        assert daemon.metric("jxperf_export_sent_total", destination="there") == filled
        log = daemon.output()
        assert log.count("windows are not sent to 'there' at present") == 1, log
        assert log.count("windows are sent to 'there' again") == 1, log
        daemon.stop()
        return log, answered


@test
def a_server_that_is_busy_is_tried_again_when_it_says():
    def busy(handler, _):
        handler.say(429, b"later", Retry_After="3")

    log, answered = fails_once_with(busy, "busy")
    assert "it answers 429: later" in log, log
    assert answered[1] - answered[0] >= 3, answered


@test
def a_server_that_is_busy_may_say_a_date():
    def busy(handler, _):
        handler.say(503, b"", Retry_After=time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 4)))

    _, answered = fails_once_with(busy, "busy")
    assert answered[1] - answered[0] >= 2.5, answered


@test
def a_server_that_fails_is_tried_again():
    log, _ = fails_once_with(lambda handler, _: handler.say(500, b"no disk\x1b[31m\nred"), "server")
    assert "it answers 500: no disk" in log and "\x1b" not in log, log


@test
def a_wrong_password_loses_nothing():
    fails_once_with(lambda handler, _: handler.say(401, b"who are you"), "denied")


@test
def a_redirect_is_not_followed():
    with Receiver() as elsewhere:
        log, _ = fails_once_with(lambda handler, _: handler.say(307, b"", Location=elsewhere.url + "/lines"), "status")
        assert "it answers 307" in log, log
        assert elsewhere.requests == 0


@test
def a_connection_that_breaks_is_tried_again():
    fails_once_with(lambda handler, _: handler.reset(), "broken")


@test
def a_slow_server_is_given_up():
    def slow(handler, _):
        time.sleep(4)
        handler.close_connection = True

    fails_once_with(slow, "timeout", "timeout: 2s")


@test
def what_is_no_answer_is_tried_again():
    def garbage(handler, _):
        handler.wfile.write(b"\0\1\2SSH-2.0-OpenSSH\r\n" * 20)
        handler.close_connection = True

    fails_once_with(garbage, "broken")


def endless(status, head=b"", piece=b"x" * 65536):
    """Answers with more than anybody wants, as fast as it is taken; says how much went."""
    went = []

    def answer(handler, _):
        handler.wfile.write(f"HTTP/1.1 {status} Hm\r\n".encode() + head)
        handler.close_connection = True
        went.append(0)
        while went[-1] < 1 << 30:
            handler.wfile.write(piece)
            went[-1] += len(piece)

    return answer, went


@test
def an_endless_body_costs_a_line():
    for status in (200, 500):
        answer, went = endless(status, b"Content-Type: text/html\r\n\r\n")
        log, _ = fails_once_with(answer, "answer_too_long")
        assert "its answer is longer than 64 KiB" in log, log
        assert went[0] < 32 << 20, went


@test
def an_error_page_of_a_gigabyte_costs_a_line():
    answer, went = endless(500, b"Content-Length: 1073741824\r\n\r\n")
    fails_once_with(answer, "answer_too_long")
    assert went[0] < 32 << 20, went


@test
def endless_headers_cost_a_line():
    answer, went = endless(200, b"", b"X-More: 0123456789\r\n" * 100)
    fails_once_with(answer, "answer_too_long")
    assert went[0] < 32 << 20, went


@test
def a_certificate_that_nobody_vouches_for_is_not_believed():
    files = certificate(make_directory())
    with Receiver(tls=files) as receiver:
        daemon = Sender(receiver.url, filled=2)
        wait_until(lambda: daemon.metric("jxperf_export_failed_total", destination="there", reason="tls"), "a failure")
        assert receiver.requests == 0
        daemon.write(f"name: there\nclickhouse: {receiver.url}\nca-file: {files[0]}")
        assert "export" in succeeded(daemon.ctl("reload"))
        receiver.wait_for(2)
        wait_until(lambda: daemon.metric("jxperf_export_sent_total", destination="there") == 2, "the count of these")
        assert daemon.metric("jxperf_export_failed_total", destination="there", reason="tls") >= 1


@test
def passwords_and_headers_are_read_again_and_never_told():
    directory = make_directory()
    password, headers = os.path.join(directory, "password"), os.path.join(directory, "headers")
    for path, text in ((password, "s3cret\n"), (headers, "# token\nX-Scope-OrgID: t0ken\n")):
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
    def basic(word):
        return "Basic " + base64.b64encode(f"u:{word}".encode()).decode()

    with Receiver(lambda handler, _: handler.headers["Authorization"] == basic("letmein") or handler.say(401)) as there:
        daemon = Sender(f"name: there\nclickhouse: {there.url}\nuser: u\npassword-file: {password}\n"
                        f"headers-file: {headers}", filled=2)
        wait_until(lambda: there.requests > 0, "a request")
        assert there.headers[0]["Authorization"] == basic("s3cret"), there.headers
        assert there.headers[0]["X-Scope-OrgID"] == "t0ken", there.headers
        with open(password, "w", encoding="ascii") as f:
            f.write("\x00")
        wait_until(lambda: daemon.metric("jxperf_export_failed_total", destination="there", reason="local"), "a failure")
        with open(password, "w", encoding="ascii") as f:
            f.write("letmein\n")
        there.wait_for(2)
        told = daemon.output() + daemon.get("/metrics") + succeeded(daemon.ctl("status"))
        with open(f"/proc/{daemon.pid}/cmdline", encoding="ascii") as f:
            told += f.read()
        assert not any(secret in told for secret in ("s3cret", "t0ken", "letmein")), told


@test
def what_a_server_leaves_out_is_said_once():
    def lossy(handler, body):
        receiver.take(body)
        handler.say(200, b"lost: \x1btoo odd\nred")

    with Receiver(lossy) as receiver:
        daemon = Sender(f"name: there\nclickhouse: {receiver.url}\nbatch: {{windows: 3, age: 50ms}}", filled=9)
        receiver.wait_for(9)
        wait_until(lambda: daemon.metric("jxperf_export_sent_total", destination="there") == 9, "the count")
        log = daemon.output()
        assert log.count("windows do not arrive whole at 'there': it answers 200: lost: ?too odd") == 1, log
        assert daemon.metric("jxperf_export_left_out_total", destination="there", by="server") == receiver.requests > 2


@test
def only_the_windows_go_that_are_refused():
    def picky(handler, body):
        bad = [line for line in body.decode().splitlines() if line.split(" ")[2] == "5"]
        return not bad or handler.say(400, b"not that one")

    with Receiver(picky) as receiver:
        daemon = Sender(receiver.url, filled=20)
        receiver.wait_for(19)
        wait_until(lambda: daemon.metric("jxperf_export_queue_windows", destination="there") == 0, "an empty queue")
        assert receiver.numbers() == set(range(1, 21)) - {5}
        assert daemon.metric("jxperf_export_dropped_total", destination="there", reason="refused") == 1
        assert daemon.metric("jxperf_export_sent_total", destination="there") == 19
        assert daemon.output().count("window w5 is not sent to 'there': it answers 400: not that one") == 1


def fails_for(*numbers):
    """A server that takes each request but those that have one of these windows."""
    def answer(handler, body):
        bad = {int(line.split(" ")[2]) for line in body.decode().splitlines()} & set(numbers)
        return not bad or handler.say(500, b"cannot")

    return answer


@test
def one_window_that_always_fails_holds_no_others_up():
    target = workload()
    with Receiver(fails_for(5)) as receiver:
        daemon = Sender(f"name: there\nclickhouse: {receiver.url}\npatience: 1s", filled=20)
        receiver.wait_for(19)
        assert receiver.numbers() == set(range(1, 21)) - {5}
        wait_until(lambda: daemon.metric("jxperf_export_queue_windows", destination="there") == 1, "an empty queue")
        assert daemon.metric("jxperf_export_set_aside_windows", destination="there") == 1
        assert daemon.metric("jxperf_export_dropped_total", destination="there", reason="failed") == 0
        assert "1 wait" in succeeded(daemon.ctl("status")) and "1 of them set aside" in succeeded(daemon.ctl("status"))
        (there,) = json.loads(succeeded(daemon.ctl("--json", "status")))["exports"]
        assert (there["waiting"], there["set_aside"], there["dropped"]) == (1, 1, 0), there
        # It is tried again by itself, and given up only as others are taken meanwhile.
        tried = daemon.metric("jxperf_export_failed_total", destination="there", reason="server")
        wait_until(lambda: daemon.metric("jxperf_export_failed_total", destination="there", reason="server") > tried + 4,
                   "tries of it", 120)
        assert daemon.metric("jxperf_export_dropped_total", destination="there", reason="failed") == 0
        given_up = lambda: daemon.metric("jxperf_export_dropped_total", destination="there", reason="failed")  # noqa: E731
        for number in range(21, 41):
            if given_up():
                break
            tried = daemon.metric("jxperf_export_failed_total", destination="there", reason="server")
            report_of(daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))
            receiver.wait_for(number - 1)
            # That it is given up is counted once it is noted, a moment after its last try.
            wait_until(lambda: daemon.metric("jxperf_export_failed_total", destination="there", reason="server") > tried
                       or given_up(), "another try of it", 60)
        assert given_up() == 1, daemon.output()
        # What the server has just taken waits until that is noted.
        wait_until(lambda: daemon.metric("jxperf_export_queue_windows", destination="there") == 0, "an empty queue")
        assert daemon.metric("jxperf_export_set_aside_windows", destination="there") == 0
        log = daemon.output()
        assert log.count("window w5 is set aside") == 1 and log.count("window w5 is not sent to 'there'") == 1, log
        assert "it has failed again and again while others were taken: it answers 500: cannot" in log, log


@test
def a_server_that_fails_for_everything_costs_no_window():
    down = [True]
    with Receiver(lambda handler, _: not down[0] or handler.say(500, b"no disk")) as receiver:
        daemon = Sender(f"name: there\nclickhouse: {receiver.url}\npatience: 1s\nbatch: {{windows: 2, age: 50ms}}", filled=9)
        wait_until(lambda: daemon.metric("jxperf_export_set_aside_windows", destination="there") >= 3, "a search", 120)
        assert not receiver.windows
        down[0] = False
        receiver.wait_for(9)
        wait_until(lambda: daemon.metric("jxperf_export_queue_windows", destination="there") == 0, "an empty queue")
        assert daemon.metric("jxperf_export_dropped_total", destination="there", reason="failed") == 0
        assert daemon.metric("jxperf_export_sent_total", destination="there") == 9
        assert daemon.metric("jxperf_export_set_aside_windows", destination="there") == 0


@test
def requests_are_compressed_where_that_was_said():
    for word, encoding in (("yes", "gzip"), ("no", None)):
        with Receiver() as receiver:
            daemon = Sender(f"name: there\nclickhouse: {receiver.url}\ncompress: {word}", filled=40)
            receiver.wait_for(40)
            assert {headers.get("Content-Encoding") for headers in receiver.headers} == {encoding}, receiver.headers
            daemon.stop()


@test
def a_server_that_cannot_read_what_is_compressed_gets_it_as_it_is():
    def plain(handler, _):
        return handler.headers["Content-Encoding"] is None or handler.say(415, b"what is that")

    with Receiver(plain) as receiver:
        daemon = Sender(f"name: there\nclickhouse: {receiver.url}\ncompress: yes", filled=40)
        receiver.wait_for(40)
        wait_until(lambda: daemon.metric("jxperf_export_sent_total", destination="there") == 40, "the count")
        assert daemon.metric("jxperf_export_dropped_total", destination="there", reason="refused") == 0
        assert daemon.output().count("'there' takes no compressed requests") == 1


@test
def a_server_gets_fewer_windows_where_they_are_too_large():
    def small(handler, body):
        return body.count(b"\n") <= 3 or handler.say(413)

    with Receiver(small) as receiver:
        daemon = Sender(receiver.url, filled=40)
        receiver.wait_for(40)
        wait_until(lambda: daemon.metric("jxperf_export_sent_total", destination="there") == 40, "the count")
        assert daemon.metric("jxperf_export_failed_total", destination="there", reason="too_large") > 0


@test
def a_server_that_was_away_gets_all_that_is_left_and_what_the_limits_drop_is_counted():
    with Receiver() as receiver:
        url, port = receiver.url, receiver.port
    daemon = Sender(url, filled=60, more="store: {windows-per-app: 4}")
    wait_until(lambda: daemon.metric("jxperf_export_dropped_total", destination="there", reason="limits"), "drops", 60)
    wait_until(lambda: daemon.metric("jxperf_export_failed_total", destination="there", reason="connection"), "failures")
    assert daemon.metric("jxperf_export_oldest_seconds", destination="there") > 60
    assert "it fails and is tried again" in succeeded(daemon.ctl("status"))
    with Receiver(port=port) as receiver:
        receiver.wait_for(40)
        wait_until(lambda: daemon.metric("jxperf_export_queue_windows", destination="there") == 0, "an empty queue")
        assert len(receiver.windows) == 40, receiver.numbers()  # 4 of each of 10 applications
        assert daemon.metric("jxperf_export_dropped_total", destination="there", reason="limits") == 20
        assert daemon.metric("jxperf_export_sent_total", destination="there") == 40


@test
def a_destination_that_is_no_longer_one_is_forgotten_and_a_new_one_begins_with_what_comes():
    with Receiver(lambda handler, _: handler.say(503)) as away, Receiver() as other:
        daemon = Sender(away.url, filled=7)
        wait_until(lambda: daemon.metric("jxperf_export_queue_windows", destination="there") == 7, "a queue")
        daemon.write(f"name: other\nclickhouse: {other.url}")
        succeeded(daemon.ctl("reload"))
        daemon.wait_for("7 windows waited to be sent to 'there', which the configuration does not have any more")
        assert daemon.metric("jxperf_export_queue_windows", destination="there") is None
        report_of(daemon.ctl("attach", str(workload().pid), "--duration", "1s", "--format", "json"))
        other.wait_for(1)
        assert other.numbers() == {8}, other.numbers()  # Numbers go on behind what was kept.


@test
def a_destination_that_comes_where_nothing_is_kept_is_said_to_get_nothing():
    daemon = Sender(state="/dev/null/state")
    assert "windows are kept in memory only" in daemon.output()
    assert "windows are not sent" not in daemon.output()
    daemon.write("http://127.0.0.1:9")
    succeeded(daemon.ctl("reload"))
    daemon.wait_for("windows are not sent anywhere: that takes a state directory, where they wait")


@test
def every_window_arrives_whenever_the_daemon_is_killed():
    target = workload()
    dice = random.Random(40)
    state = os.path.join(make_directory(), "state")
    flaky = lambda handler, body: dice.random() < 0.7 or handler.reset()  # noqa: E731
    ended = set()
    with Receiver(flaky) as receiver:
        for round_number in range(8):
            daemon = Sender(f"name: there\nclickhouse: {receiver.url}\nbatch: {{windows: 3, age: 50ms}}", state=state,
                            filled=40 if round_number == 0 else 0)
            if round_number == 0:
                ended |= {f"w{n}" for n in range(1, 41)}
            if round_number % 2:
                reply = daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json")
                ended.add(report_of(reply)["window"]["id"])
            time.sleep(dice.uniform(0, 0.6))
            os.kill(daemon.pid, signal.SIGKILL)
            daemon.child.wait()
            daemon.stop()
        daemon = Sender(receiver.url, state=state)
        wait_until(lambda: {f"w{n}" for n in receiver.numbers()} >= ended, "all windows", 120)
        assert {(host, store) for host, store, _ in receiver.windows} == {next(iter(receiver.windows))[:2]}
        assert all(len(set(came)) == 1 for came in receiver.windows.values()), receiver.windows
        note(f"{len(ended)} windows in {receiver.requests} requests, "
             f"{sum(len(came) for came in receiver.windows.values())} arrivals")


@test
def a_daemon_that_is_stopped_waits_for_no_server():
    def never(handler, _):
        time.sleep(60)

    with Receiver(never) as receiver:
        daemon = Sender(receiver.url, filled=3)
        wait_until(lambda: receiver.requests > 0, "a request")
        started = time.monotonic()
        os.kill(daemon.pid, signal.SIGTERM)
        daemon.child.wait()
        assert time.monotonic() - started < 5, time.monotonic() - started


@test
def what_waits_when_a_batch_is_full_waits_for_no_others():
    with Receiver() as receiver:
        _daemon = Sender(f"name: there\nclickhouse: {receiver.url}\nbatch: {{windows: 4, age: 1h}}", filled=18)
        receiver.wait_for(18)


@test
def a_name_that_nobody_knows_holds_nothing_up():
    daemon = Sender("http://no-such-server.invalid:8123", filled=3)
    for _ in range(20):
        started = time.monotonic()
        succeeded(daemon.ctl("status"))
        assert time.monotonic() - started < 3, time.monotonic() - started
        time.sleep(0.05)
    wait_until(lambda: sum(daemon.metric("jxperf_export_failed_total", destination="there", reason=reason)
                           for reason in ("connection", "timeout")), "a failure", 90)
    started = time.monotonic()
    os.kill(daemon.pid, signal.SIGTERM)
    daemon.child.wait()
    assert time.monotonic() - started < 5, time.monotonic() - started


@test
def a_directory_gets_profiles_within_its_limits():
    directory = make_directory()
    lines = f"name: there\ndirectory: {directory}\nkeep-files: 12"
    daemon = Sender(lines, filled=20)
    wait_until(lambda: daemon.metric("jxperf_export_sent_total", destination="there") == 20, "the count")
    files = sorted(os.listdir(directory))
    assert len(files) == 12 and all(f.endswith(".pb.gz") for f in files), files
    with gzip.open(os.path.join(directory, files[0])) as f:
        assert len(f.read()) > 100
    # The same windows have the same names.
    daemon.stop()
    again = Sender(lines.replace("12", "100"), filled=20)
    wait_until(lambda: again.metric("jxperf_export_sent_total", destination="there") == 20, "the count")
    assert len([f for f in os.listdir(directory) if f.startswith("app1-")]) <= 4


@test
def a_directory_that_another_writes_to_is_tried_again():
    directory = make_directory()
    other = os.open(directory, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    daemon = Sender(f"name: there\ndirectory: {directory}", filled=3)
    wait_until(lambda: daemon.metric("jxperf_export_failed_total", destination="there", reason="local"), "a failure")
    assert f"another writer is at work in '{directory}'" in succeeded(daemon.ctl("status"))
    assert not os.listdir(directory)
    os.close(other)
    wait_until(lambda: daemon.metric("jxperf_export_sent_total", destination="there") == 3, "the count")
    assert len(os.listdir(directory)) == 3


@test
def a_full_directory_is_tried_again():
    need_root()
    directory = make_directory()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,mode=0777", "none", directory], check=True)
    try:
        with open(os.path.join(directory, "fill"), "wb") as f:
            with contextlib.suppress(OSError):
                f.write(b"x" * 65536)
                f.flush()
        daemon = Sender(f"name: there\ndirectory: {directory}", filled=1)
        wait_until(lambda: daemon.metric("jxperf_export_failed_total", destination="there", reason="local"), "a failure")
        assert "No space left" in succeeded(daemon.ctl("status"))
        os.unlink(os.path.join(directory, "fill"))
        wait_until(lambda: daemon.metric("jxperf_export_sent_total", destination="there") == 1, "the count")
        daemon.stop()
    finally:
        subprocess.run(["umount", "-l", directory], check=True)


if __name__ == "__main__":
    run()
