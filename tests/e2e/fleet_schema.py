#!/usr/bin/env python3
"""Tables of ClickHouse that an earlier version has made get the columns of this one, in a real server with two shards and
in a current engine; and windows that waited for that arrive, compressed."""
from lib import note, run, test, wait_until
from support.clickhouse import CLUSTER, Engine, two_shards
from support.profile import DAEMON, ctl, succeeded
from support.receiver import Sender

FILLED = 7
# What an earlier version would not have had; the second one is an array, where there is one.
LACKING = {"pairs": ("checked_bytes", "trap_certainty"), "windows": ("cpu_weight",), "contexts": ("lines",)}


def columns(server, database, table):
    text = server.query(f"SELECT name, type FROM system.columns WHERE database = '{database}' AND table = '{table}' ORDER BY name")
    return text.splitlines()


def sends(servers, *cluster):
    """Windows that a daemon sends to tables that lack columns wait, and arrive once these are there."""
    database, url = "older", servers[0].url

    def apply():
        for server in servers:
            succeeded(ctl("fleet-schema", "--apply", "--url", server.url, "--database", database, *cluster))

    apply()
    tables = [table + suffix for table in LACKING for suffix in (("_local", "") if cluster else ("",))]
    whole = {table: columns(servers[0], database, table) for table in tables}
    apply()
    assert whole == {table: columns(servers[0], database, table) for table in tables}  # It changes nothing twice.
    for table in reversed(tables):
        for column in LACKING[table.removesuffix("_local")]:
            for server in servers:
                server.query(f"ALTER TABLE {database}.{table} DROP COLUMN {column}")
    assert all(len(columns(servers[0], database, t)) == len(whole[t]) - len(LACKING[t.removesuffix("_local")]) for t in tables)

    daemon = Sender(f"name: there\nclickhouse: {url}\ndatabase: {database}\ncompress: yes", filled=FILLED, program=DAEMON)
    wait_until(lambda: "it fails and is tried again" in succeeded(daemon.ctl("status")), "a failure")
    said = succeeded(daemon.ctl("status"))
    assert "run 'jxperfctl fleet-schema --apply'" in said, said
    apply()
    assert whole == {table: columns(servers[0], database, table) for table in tables}
    wait_until(lambda: daemon.metric("jxperf_export_sent_total", destination="there") == FILLED, "windows", 120)
    assert daemon.metric("jxperf_export_dropped_total", destination="there", reason="refused") == 0
    assert servers[0].query(f"SELECT count(), sum(cpu_weight > 0) FROM {database}.windows") == f"{FILLED}\t{FILLED}\n"
    rows, checked = map(int, servers[0].query(f"SELECT count(), sum(checked_bytes) FROM {database}.pairs").split())
    assert rows > 0 and checked > 0, (rows, checked)
    succeeded(ctl("fleet", "report", "--url", url, "--database", database))
    sent = daemon.metric("jxperf_export_sent_bytes_total", destination="there")
    note(f"{rows} rows of pairs, {sent:.0f} bytes")
    return database


@test
def tables_of_shards_get_the_columns_that_they_lack():
    servers = two_shards()
    sends(servers, "--cluster", CLUSTER)
    printed = succeeded(ctl("fleet-schema", "--print", "--engine-version", "18.16"))
    assert "ADD COLUMN IF NOT EXISTS" not in printed.replace("has no ADD COLUMN IF NOT EXISTS", ""), printed


@test
def tables_of_a_current_engine_get_the_columns_that_they_lack():
    engine = Engine()
    database = sends([engine])
    before = columns(engine, database, "pairs")
    engine.query(f"ALTER TABLE {database}.pairs DROP COLUMN checked_bytes")
    for statement in succeeded(ctl("fleet-schema", "--print", "--database", database)).split(";\n"):
        if statement.strip():
            engine.query(statement)
    assert columns(engine, database, "pairs") == before


if __name__ == "__main__":
    run()
