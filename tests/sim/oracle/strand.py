"""What waits and what runs inside an instance."""


class Scope:
    """Names beside those that are always there. Loop names live on in compensations, the others do not (rule S15)."""

    def __init__(self, loop=None, lane=None, rounds=(), undoing=False):
        self.loop, self.lane = loop or {}, lane or {}
        self.rounds = rounds  # of the enclosing loops
        self.undoing = undoing  # in a compensation

    def with_loop(self, **names):
        return Scope({**self.loop, **names}, self.lane, self.rounds, self.undoing)

    def in_round(self, index, item_name=None, item=None):
        loop = {**self.loop, "index": index}
        if item_name:
            loop[item_name] = item
        return Scope(loop, self.lane, (*self.rounds, index), self.undoing)

    def with_lane(self, **names):
        return Scope(self.loop, {**self.lane, **names}, self.rounds, self.undoing)

    def without(self, name):
        return Scope(self.loop, {k: v for k, v in self.lane.items() if k != name}, self.rounds, self.undoing)

    def for_compensation(self):
        return Scope(self.loop, {}, self.rounds, True)


class Wait:
    """One open wait. `on` says what its event does: wake the strand, remind, or begin a deadline's strand."""

    def __init__(self, kind, step, on="wake", **facts):
        self.kind, self.step, self.on, self.facts = kind, step, on, facts
        self.open = False
        self.strand = None
        self.order = 0

    def __getattr__(self, name):
        try:
            return self.__dict__["facts"][name]
        except KeyError:
            raise AttributeError(name) from None


class Waits:
    """Yielded by a strand: it rests until one of these wakes it."""

    def __init__(self, waits):
        self.waits = waits


class Join:
    """Yielded by a strand: it rests until its branches are done."""

    def __init__(self, needed):
        self.needed, self.ended = needed, 0
        self.failure = None
        self.completed = None
        self.only = None  # the branch that a `complete` has left: the others are gone

    def met(self):
        if self.only is not None and self.only.ended:
            return True
        return (self.only is None and self.ended >= self.needed) or self.failure is not None or self.completed is not None


class Frozen:
    """Yielded by a strand that could run but whose instance is suspended."""


class Incident:
    """Yielded by the strand whose error suspended the instance; answered with what the operator decides."""

    def __init__(self, failure):
        self.failure = failure


class TryHandler:
    def __init__(self, step, scope):
        self.step, self.scope = step, scope
        self.catching = False  # in the catch: only `finally` is left
        self.finally_done = not step["finally"]
        self.calls = {}  # of an earlier run that failed: calls that keep their keys


class Strand:
    def __init__(self, parent=None, kind="main", join=None):
        self.parent, self.kind, self.join = parent, kind, join
        self.body = None
        self.blocked = None
        self.handlers = []
        self.children = []  # strands that it started and that have not ended
        self.ended = False
        self.owner_wait = None  # a deadline's strand: the task's wait
        self.deserted = False  # a `complete` inside has closed what it waits for
        self.retried = None  # the effect of the failed call that begins again

    def lineage(self):
        strand, found = self, []
        while strand:
            found.append(strand)
            strand = strand.parent
        return found

    def branch(self):
        """The nearest branch around it, itself included; None in the main strand."""
        for strand in self.lineage():
            if strand.kind == "branch":
                return strand
        return None
