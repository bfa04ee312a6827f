#!/usr/bin/env python3
"""Windows that are sent to a server: each arrives, whatever server, network and daemon do."""
# Takes half a place: it waits most of the time.
import os
import random
import signal
import subprocess
import time

from lib import BUILD, jdks, make_directory, note, run, test, wait_until
from support.profile import Workload, report_of
from support.receiver import Receiver, Sender, certificate


def workload():
    return Workload(jdks()[0], "DeadStore")


@test
def a_window_that_ends_arrives():
    target = workload()
    with Receiver() as receiver:
        daemon = Sender(receiver.url)
        report = report_of(daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))
        receiver.wait_for(1)
        ((host, store, number),) = receiver.windows
        assert f"w{number}" == report["window"]["id"] and host == "h1" and len(store) == 32, receiver.windows
        daemon.stop()


if __name__ == "__main__":
    run()
