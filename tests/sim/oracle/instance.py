"""One instance: its strands, its waits, and what an event does to it.

Naive on purpose: a strand is a Python generator that runs until it waits; nothing is stored.
"""
import copy

import steps
from expressions import condition, raw_value, value
from failure import Completed, Failure, Reentered, SkippedStep, Thrown, Unspecified
from strand import Frozen, Incident, Scope, Strand, Waits
from times import Span, Time, parse_span, parse_time


class Instance:
    def __init__(self, world, ident, definition, given_input, reference, inherited, at):
        self.world, self.id, self.definition = world, ident, definition
        self.now = at
        self.status = "running"
        self.input, self.state, self.output, self.error = given_input, {}, None, None
        self.reference = {"key": None, "parts": {}}
        self.given_reference, self.inherited = reference, inherited
        self.waits, self.wait_count = [], 0
        self.kept = []  # signals
        self.compensations = []
        self.tasks, self.runs, self.events, self.starts = [], [], [], []
        self.signal_ids = set()
        self.frozen, self.held = [], []
        self.incident = None
        self.holding = False  # a decided strand stops: what a suspension held back comes before it
        self.undoing = False
        self.slice = 0
        self.main = Strand()

    # Names and values.

    def names(self, scope):
        return {"input": self.input, "state": self.state, "ref": self.reference, "config": self.world.config,
                "workflow": {"name": self.definition["name"], "version": self.definition["version"],
                             "instance_id": self.id},
                "now": Time(self.now), **scope.loop, **scope.lane}

    def value(self, template, scope):
        return copy.deepcopy(value(template, self.names(scope)))

    def condition(self, expression, scope):
        return condition(expression, self.names(scope))

    def duration(self, template, scope):
        given = raw_value(template, self.names(scope))
        if type(given) is str:
            given = parse_span(given)
        if not isinstance(given, Span):
            raise Failure("expression", "invalid_argument", "no duration")
        return max(0, given.ms)

    def instant(self, template, scope):
        given = raw_value(template, self.names(scope))
        if type(given) is str:
            given = parse_time(given)
        if not isinstance(given, Time):
            raise Failure("expression", "invalid_argument", "no time")
        return given.ms

    def assign(self, state, path, given):
        """Rule S1: objects on the way are made, anything else on the way is in the way."""
        parts = path.split(".")
        at = state
        for part in parts[:-1]:
            if at.get(part) is None:
                at[part] = {}
            at = at[part]
            if not isinstance(at, dict):
                raise Failure("expression", "path_conflict", path)
        at[parts[-1]] = given

    def assign_result(self, path, given):
        if path is None:
            return
        changed = copy.deepcopy(self.state)
        self.assign(changed, path, copy.deepcopy(given))
        self.state = changed

    def take_result(self, strand, step, path, given, lane=None):
        """Rule S2. What has arrived stays: after an incident the retry only assigns it again."""
        while True:
            try:
                return self.assign_result(path, given)
            except Failure as failure:
                self.world.reached("error", f"{failure.kind} {failure.code}")
                if lane is not None:
                    raise
                decision = yield from self.fault(strand, failure, step)
                self.world.reached("lane", "incident at result")
                self.world.reached("meeting", "result conflict of " + step["type"])
                if decision[0] == "skip":
                    raise SkippedStep(decision[1]) from None

    # Running.

    def begin(self):
        self.slice += 1
        self.main.body = self.life()
        self.run(self.main)
        self.rest()

    def life(self):
        """From the start to the end; the only strand without a parent."""
        main = self.main
        try:
            try:
                yield from self.one(main, {"id": ""}, self.prepare)
                yield from self.block(main, self.definition["steps"], Scope())
                yield from self.one(main, {"id": ""}, self.conclude)
            except Completed as end:
                if end.given:
                    self.output = end.output
                else:
                    yield from self.one(main, {"id": ""}, self.conclude)
            self.end("completed")
        except Thrown as thrown:
            failure = thrown.failure
            if self.definition["on_error"] == "compensate":
                self.undoing = True
                self.world.reached("lane", "on_error: compensate")
                try:
                    yield from steps.undo_all(self, main, None)
                except Completed as end:
                    # `complete` inside `compensate` ends the instance here too.
                    if end.given:
                        self.output = end.output
                    else:
                        yield from self.one(main, {"id": ""}, self.conclude)
                    self.end("completed")
                    return
            self.error = failure
            self.end("failed")

    def prepare(self, decision=None):
        """Rule V5: the reference, then the state."""
        reference = self.definition.get("reference")
        if self.given_reference is not None:
            self.reference = self.given_reference
        elif reference is not None:
            self.reference = steps.evaluated_reference(self, reference, Scope(), {"key": None, "parts": {}})
        elif self.inherited is not None:
            self.reference = copy.deepcopy(self.inherited)
        names = {k: v for k, v in self.names(Scope()).items() if k != "state"}
        self.state = copy.deepcopy(value(self.definition["state"], names))

    def conclude(self, decision=None):
        """Rule S21. Skipping a failed output gives the output."""
        if decision is not None:
            self.output = decision
        elif "output" in self.definition:
            self.output = self.value(self.definition["output"], Scope())

    def one(self, strand, step, act):
        """Something that is no step but can fail like one."""
        while True:
            try:
                act()
                return
            except Failure as failure:
                decision = yield from self.fault(strand, failure, step)
                if decision[0] == "skip":
                    if act == self.conclude:
                        self.output = decision[1]
                        return
                    raise Unspecified("skipping past a start that failed")

    def block(self, strand, block, scope):
        for step in block:
            yield from self.step(strand, step, scope)

    def step(self, strand, step, scope):
        while True:
            try:
                self.world.reached("step", step["type"])
                if "when" in step and not self.condition(step["when"], scope):
                    self.world.reached("lane", "skipped by when")
                    return
                if (yield from steps.KINDS[step["type"]](self, strand, step, scope)) == steps.SKIPPED:
                    yield from self.give_way()
                    return
                break
            except SkippedStep as skipped:
                self.skip(step, skipped.result)
                yield from self.give_way()
                return
            except Failure as failure:
                self.world.reached("error", f"{failure.kind} {failure.code}" if failure.kind != "business"
                                   else "business")
                decision = yield from self.fault(strand, failure, step)
                if decision[0] == "retry":
                    strand.retried = failure.effect
                    continue
                self.skip(step, decision[1])
                yield from self.give_way()
                return  # it did not end without error: there is nothing to undo
        if step.get("compensate") is not None:
            self.compensations.append((strand.lineage(), step["compensate"], scope.for_compensation()))

    def give_way(self):
        if self.holding:
            yield Frozen()

    def skip(self, step, result):
        fields = step.get(step["type"])
        if isinstance(fields, dict) and "result" in fields:
            self.assign_result(fields["result"], result)

    # Errors.

    def fault(self, strand, failure, step):
        """Where the error of a step goes (rules S14, S17, S18): from the innermost `try` outwards. Unwinds when somebody
        takes it; otherwise answers what an operator decided about it."""
        if failure.step is None:
            failure.step = step["id"]
        handlers, passed = strand.handlers, []
        for at in range(len(handlers) - 1, -1, -1):
            handler = handlers[at]
            failure, entry = self.offer(handler, failure)
            if entry is not None:
                raise Thrown(failure, handler, entry)
            if not handler.finally_done:
                handler.finally_done = True
                passed.append(handler)
                if failure.undoing and not handler.scope.undoing:
                    failure.calls = {}  # the retry runs another compensation
                failure.calls, failure.undoing = {**handler.calls, **failure.calls}, handler.scope.undoing
                self.world.reached("lane", "finally after an unhandled error")
                strand.handlers = handlers[:at]
                yield from self.block(strand, handler.step["finally"], handler.scope.without("error"))
                strand.handlers = handlers
        fatal = self.definition["on_error"] != "suspend" or failure.kind == "business"
        if self.undoing:
            fatal = False
        if strand.parent is not None and (fatal or self.noticed(strand.parent, failure)):
            raise Thrown(failure, None)
        if fatal:
            self.world.reached("lane", "on_error: " + self.definition["on_error"])
            raise Thrown(failure, None)
        self.world.reached("lane", "suspended while undoing" if self.undoing else "on_error: suspend")
        self.status, self.error, self.incident = "suspended", failure, strand
        decision = yield Incident(failure)
        if decision[0] == "retry":
            yield from self.give_way()
        if passed:
            raise Reentered(passed[-1], decision, failure.calls)
        return decision

    def offer(self, handler, failure):
        """The failure, or the one of a catch condition that replaced it, and the entry that takes it."""
        if handler.catching:
            return failure, None
        for entry in handler.step["catch"]:
            try:
                if "when" not in entry or self.condition(entry["when"], handler.scope.with_lane(error=failure.as_name())):
                    return failure, entry
            except Failure as other:
                other.step = handler.step["id"]
                return other, None
        return failure, None

    def noticed(self, strand, failure):
        """Whether anything around the strand's place takes notice of an error."""
        while strand:
            for handler in reversed(strand.handlers):
                if not handler.finally_done:
                    return True
                if self.offer(handler, failure)[1] is not None:
                    return True
            strand = strand.parent
        return False

    # Strands.

    def run(self, strand, answer=None, throw=None):
        """Until it waits or ends."""
        if strand.ended:
            return None  # cancelled meanwhile
        strand.blocked = None
        strand.deserted = False
        try:
            if throw is not None:
                strand.blocked = strand.body.throw(throw)
            elif answer is None:
                strand.blocked = next(strand.body)
            else:
                strand.blocked = strand.body.send(answer)
        except StopIteration:
            return self.ended(strand)
        except Thrown as thrown:
            return self.ended(strand, failure=thrown.failure)
        except Completed as completed:
            return self.ended(strand, completed=completed)
        if isinstance(strand.blocked, Waits):
            for wait in strand.blocked.waits:
                if not wait.open:
                    self.open(wait, strand)
        elif isinstance(strand.blocked, Frozen):
            self.frozen.insert(0 if self.holding else len(self.frozen), strand)

    def open(self, wait, strand):
        self.wait_count += 1
        wait.open, wait.strand, wait.order = True, strand, self.wait_count
        self.waits.append(wait)

    def close(self, wait):
        wait.open = False
        if wait in self.waits:
            self.waits.remove(wait)

    def ended(self, strand, failure=None, completed=None):
        strand.ended = True
        if strand.parent is None:
            return
        parent = strand.parent
        parent.children.remove(strand)
        if strand.kind == "deadline":
            if failure:
                # rule S5: the error goes to the `try` around the task.
                self.wake(parent, throw=failure)
            elif completed:
                self.wake(parent, throw=completed)
            elif parent.deserted:
                # An error replaced the `complete` that closed the task: the step has nothing left to wait for.
                self.wake(parent, answer=(None, None))
            return
        join = strand.join
        join.ended += 1
        if failure and join.failure is None:
            join.failure = failure
        if completed:
            join.completed = completed
        if parent.blocked is join and join.met():
            self.run(parent, answer=join)
        elif isinstance(parent.blocked, Frozen) and self.status == "running":
            # rule S8: the join is looked at when a branch ends, also before a failed branch is retried. With a commit after
            # each step, the failed branch may come before the end and before the branches that have not begun.
            met = join.met() or join.only is not None
            if not met and self.definition["checkpoint"] == "step" and self.world.choose([False, True]):
                return
            self.frozen.remove(parent)
            self.run(parent)

    def wake(self, strand, answer=None, throw=None):
        """Resumes a strand that waits: all its waits close."""
        if isinstance(strand.blocked, Waits):
            for wait in strand.blocked.waits:
                self.close(wait)
        self.run(strand, answer, throw)

    def cancel_strand(self, strand):
        """No further step of it runs, not even `finally` (rule S8)."""
        for child in list(strand.children):
            self.cancel_strand(child)
        if strand.ended:
            return
        strand.ended = True
        if isinstance(strand.blocked, Waits):
            for wait in strand.blocked.waits:
                self.close(wait)
                self.abandon(wait)
        if strand in self.frozen:
            self.frozen.remove(strand)
        if strand.parent and strand in strand.parent.children:
            strand.parent.children.remove(strand)
        strand.body.close()

    def abandon(self, wait):
        """What a wait that is no longer wanted leaves behind."""
        if wait.kind == "task" and wait.task["status"] == "open":
            wait.task["status"] = "cancelled"
        elif wait.kind == "run" and wait.run["status"] == "open":
            wait.run["status"] = "cancelled"
            wait.run["same_slice"] = wait.run["slice"] == self.slice
        elif wait.kind == "child":
            wait.start["cancelled"] = True
            wait.start["same_slice"] = wait.start["slice"] == self.slice

    def cancel_others(self, strand):
        """All strands but this one and those around it, which only wait for this one from now on (rule S16)."""
        lineage = strand.lineage()
        for one in lineage:
            for child in list(one.children):
                if child not in lineage:
                    self.cancel_strand(child)
        for inner, outer in zip(lineage, lineage[1:]):
            self.world.reached("lane", "complete in a " + inner.kind)
            if inner.kind == "branch":
                inner.join.only = inner
            if isinstance(outer.blocked, Waits):
                outer.deserted = True
                for wait in outer.blocked.waits:
                    self.close(wait)
                    self.abandon(wait)

    def end(self, status):
        self.status = status
        for child in list(self.main.children):
            self.cancel_strand(child)

    def rest(self):
        if self.status == "running":
            self.status = "waiting"

    def is_final(self):
        return self.status in ("completed", "failed", "cancelled")
