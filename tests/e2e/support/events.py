"""Events of an agent, as proto/events.h has them: structs and their order are read from there."""
import os
import re
import struct
import types

from lib import ROOT

CODES = {"uint8_t": "B", "uint16_t": "H", "uint32_t": "I", "int32_t": "i", "uint64_t": "Q", "double": "d"}


def _read(name):
    with open(os.path.join(ROOT, "proto", name), encoding="utf-8") as header:
        return re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)


def _records():
    """name -> (type, struct, [(member, count)]); the head comes first, as two members."""
    text, limits = _read("events.h"), _read("limits.h") + _read("events.h")
    order, found = re.findall(r"X\([A-Z]+, (event_\w+)\)", text), {}
    for name, body in re.findall(r"struct (event_\w+) \{\n(.*?)\n\};", text, re.S):
        layout, members = "<", []
        for kind, member, sizes in re.findall(r"([\w\s]+?)\s(\w+)((?:\[\w+\])*);", body):
            count = 1
            for size in re.findall(r"\[(\w+)\]", sizes):
                count *= int(size if size.isdigit() else re.search(rf"#define {size}\s+(\d+)u", limits).group(1))
            if kind.strip() == "struct event_head":
                layout, members = layout + "HH", [("type_of_record", 1), ("size", 1)]
            else:
                layout += f"{count}{CODES[kind.strip()]}"
                members.append((member, count))
        if name in order:
            found[name] = (1 + order.index(name), struct.Struct(layout), members)
    return found


RECORDS = _records()
NAMES = {number: name for name, (number, _, _) in RECORDS.items()}


def pack(name, **values):
    """A record; what is not given is 0."""
    number, layout, members = RECORDS[name]
    values |= {"type_of_record": number, "size": layout.size}
    return layout.pack(*(values.get(member, 0) for member, count in members for _ in range(count)))


def unpack(data):
    """The records of a batch, each with its struct's name as record."""
    events, at = [], 0
    while at < len(data):
        name = NAMES[struct.unpack_from("<H", data, at)[0]]
        _, layout, members = RECORDS[name]
        values = iter(layout.unpack_from(data, at))
        event = types.SimpleNamespace(record=name)
        for member, count in members:
            taken = [next(values) for _ in range(count)]
            setattr(event, member, taken if count > 1 else taken[0])
        events.append(event)
        at += layout.size
    return events
