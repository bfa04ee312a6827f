"""Who made the accesses of a report, where a program knows it: the method and the class of what it accesses belong together
(tests/workloads/Fruit.java). The programs print

    made CLASS METHOD KIND CLASS-OF-WHAT FIELD

What counts is the list of classes: a row of pairs adds up all of its contexts, and says what its largest part accesses, so an
access that is said to be another's may be in that one's row, unseen.
"""
import collections
import dataclasses
import re

from . import possible

NOBODY = "(not named)"


def truth_of(output):
    """By kind, class and field: the method."""
    return {(kind, location, field): f"{of}.{method}" for of, method, kind, location, field in
            re.findall(r"^made (\S+) (\S+) (\S+) (\S+) (\S*)$", output, re.MULTILINE)}


@dataclasses.dataclass
class Named:
    """Samples of known makers. said: by (who made it, who is said to have); ways: by how sure and whether it is right."""

    said: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    ways: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    others: int = 0  # accesses of which the program says nothing

    @property
    def checked(self):
        return sum(self.said.values())

    @property
    def right(self):
        """The part whose method is that which made it."""
        return sum(n for (truth, said), n in self.said.items() if truth == said) / max(self.checked, 1)

    @property
    def most_off(self):
        """By how much a method's share differs at most from what it is."""
        true, said = collections.Counter(), collections.Counter()
        for (of, by), n in self.said.items():
            true[of] += n
            said[by] += n
        return max((abs(true[m] - said[m]) for m in {*true, *said}), default=0) / max(self.checked, 1)

    def lines(self):
        yield f"{self.checked} of known makers, {self.others} others; right {self.right:.4f}, shares off by at most {self.most_off:.4f}"
        makers = collections.Counter()
        for (truth, _), n in self.said.items():
            makers[truth.rpartition(".")[2]] += n
        yield ", ".join(f"{maker} {n}" for maker, n in makers.most_common())
        yield ", ".join(f"{way or 'not said'} {'right' if well else 'WRONG'} {n}" for (way, well), n in sorted(self.ways.items()))
        for (truth, by), n in self.said.most_common():
            if truth != by:
                yield f"WRONG {n}: {truth} made it, said {by}"


def named(rows, truth):
    """The Named of Accesses."""
    result = Named()
    for access in rows:
        kind, of, field, _, _ = access.location
        maker = truth.get((kind, of, field))
        if not maker:
            result.others += access.count
            continue
        by = NOBODY if access.attribution in (possible.OF_CODE, "unknown") else ".".join(access.frame[:2])
        result.said[maker, by] += access.count
        result.ways[access.attribution, by == maker] += access.count
    return result
