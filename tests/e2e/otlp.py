#!/usr/bin/env python3
"""OTLP profiles: what the unit tests' windows come to decodes with Debian's files of the protocol, in the numbering of
each version, and breaks none of the protocol's rules."""
import copy
import os
import re
import subprocess

from lib import BUILD, HANG_S, made_once, make_directory, note, run, test
from support.otlp import Protocol, complaints, one

# Whose windows are kept (tests/unit/support/otlp_bodies.h): those of the golden reports, merges, large ones, limits.
PROGRAMS = ("report/report", "report/merged", "export/otlp")


@made_once
def bodies():
    """Minor version -> the paths of bodies in its numbering."""
    found = {}
    for program in PROGRAMS:
        directory = make_directory()
        subprocess.run([os.path.join(BUILD, "tests", "unit", program)], timeout=HANG_S, check=True, capture_output=True,
                       cwd=os.path.join(os.path.dirname(__file__), "..", ".."),
                       env=dict(os.environ, JXPERF_OTLP_BODIES=directory))
        kept = os.listdir(directory)
        assert len(kept) >= 2, (program, kept)
        for name in kept:
            found.setdefault(int(name.split(".")[1]), []).append(os.path.join(directory, name))
    return found


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def hold_to_the_rules(minor):
    protocol = Protocol(minor)
    paths = bodies()[minor]
    largest, samples, types = 0, 0, set()
    for path in paths:
        request = protocol.decode(contents(path))
        assert not complaints(request), (path, complaints(request)[:20])
        largest = max(largest, os.path.getsize(path))
        strings = one(request, "dictionary")["string_table"]
        for profile in profiles_of(request):
            samples += len(profile["samples"])
            types.add(strings[one(one(profile, "sample_type"), "type_strindex")].decode())
    note(f"{len(paths)} bodies, up to {largest} bytes, {samples} samples of {', '.join(sorted(types))}")
    assert len(paths) >= 20, paths
    return types


def profiles_of(request):
    return [profile for resource in request["resource_profiles"] for scope in resource["scope_profiles"]
            for profile in scope["profiles"]]


@test
def bodies_keep_the_rules_of_the_protocol():
    types = hold_to_the_rules(11)
    assert types >= {"dead_store_bytes", "dead_store_cpu", "silent_load_bytes", "object_accesses", "object_bytes",
                     "samples", "cpu"}, types


@test
def bodies_in_the_numbering_of_1_9_keep_them():
    hold_to_the_rules(9)


@test
def one_numbering_is_not_the_other():
    path = next(path for path in bodies()[11] if os.path.getsize(path) < 100_000)
    assert any("is not the protocol's" in complaint for complaint in complaints(Protocol(9).decode(contents(path))))


def table(name):
    return lambda request: one(request, "dictionary")[name]


def first_profile(request):
    return profiles_of(request)[0]


def double(items):
    items.append(copy.deepcopy(items[-1]))


def change(message, **values):
    for name, value in values.items():
        message[name] = [value]


# What is done to a good request, and what has to be said of it.
BREAKS = (
    (lambda r: double(table("string_table")(r)), "string_table: twice"),
    (lambda r: double(table("stack_table")(r)), "stack_table: twice"),
    (lambda r: double(table("location_table")(r)), "location_table: twice"),
    (lambda r: double(table("function_table")(r)), "function_table: twice"),
    (lambda r: double(table("attribute_table")(r)), "attribute_table: twice"),
    (lambda r: table("string_table")(r).append(b"nobody's"), r"string_table\[\d+\]: nothing refers to"),
    (lambda r: table("stack_table")(r).append({"location_indices": [1, 1, 1]}), r"stack_table\[\d+\]: nothing refers"),
    (lambda r: table("function_table")(r).append({"name_strindex": [1]}), r"function_table\[\d+\]: nothing refers to"),
    (lambda r: table("function_table")(r).append({"start_line": [7]}), r"function_table\[\d+\]: no name"),
    (lambda r: table("link_table")(r).append({"trace_id": [b"1"]}), r"link_table\[1\]: ids of a wrong size"),
    (lambda r: table("mapping_table")(r).pop(), "mapping_table is empty"),
    (lambda r: table("location_table")(r).pop(0), r"location_table\[0\] is not zero"),
    (lambda r: change(table("location_table")(r)[1], attribute_indices=0), "refers to the attribute that is none"),
    (lambda r: table("location_table")(r)[1].pop("attribute_indices"), "frame type ''"),
    (lambda r: change(table("stack_table")(r)[1], location_indices=10_000), "index 10000 is not in location_table"),
    (lambda r: change(table("stack_table")(r)[1], location_indices=-1), "index -1 is not in location_table"),
    (lambda r: change(first_profile(r), profile_id=b"short"), "id b'short'"),
    (lambda r: change(first_profile(r), profile_id=bytes(16)), "id b'"),
    (lambda r: change(profiles_of(r)[1], profile_id=one(first_profile(r), "profile_id")), "profile 1: id"),
    (lambda r: change(first_profile(r), time_unix_nano=0), "no time"),
    (lambda r: first_profile(r).pop("period_type"), "a period of no type"),
    (lambda r: first_profile(r).pop("sample_type"), "sample type"),
    (lambda r: first_profile(r)["attribute_indices"].append(first_profile(r)["attribute_indices"][0]),
     "two attributes 'jxperf.kind'"),
    (lambda r: double(first_profile(r)["samples"]), "two samples of the same stack"),
    (lambda r: first_profile(r).pop("samples"), "samples of 0 shapes"),
    (lambda r: first_profile(r)["samples"][0]["values"].append(1), "2 values of a sample"),
    (lambda r: change(first_profile(r)["samples"][0], values=0), r"values \[0\]"),
    (lambda r: change(first_profile(r)["samples"][0], timestamps_unix_nano=1), "a time outside"),
    (lambda r: change(first_profile(r)["samples"][0], stack_index=0), "a sample without a stack"),
    (lambda r: change(first_profile(r)["samples"][0], link_index=3), "index 3 is not in link_table"),
    (lambda r: one(r["resource_profiles"][0], "resource")["attributes"].pop(0), "service.name is 0 times"),
    (lambda r: double(profiles_of(r) and r["resource_profiles"][0]["scope_profiles"][0]["profiles"]),
     "one type in two profiles"),
    (lambda r: r["resource_profiles"][0]["scope_profiles"][0].pop("profiles"), "a scope without profiles"),
    (lambda r: r.pop("resource_profiles"), "no resource_profiles"),
    (lambda r: first_profile(r).update({"77": [1]}), "field 77 is not the protocol's"),
)


@test
def the_checker_finds_what_is_broken():
    small = (path for path in bodies()[11] if os.path.getsize(path) < 20_000)
    good = next(request for request in map(Protocol(11).decode, map(contents, small)) if len(profiles_of(request)) >= 4)
    assert not complaints(good)
    for number, (breaks, words) in enumerate(BREAKS):
        broken = copy.deepcopy(good)
        breaks(broken)
        found = complaints(broken)
        assert any(re.search(words, complaint) for complaint in found), (number, words, found[:5])


run()
