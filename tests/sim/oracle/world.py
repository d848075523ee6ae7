"""All instances of one case, moved by its history."""
import copy

import schema
import steps
from failure import Difference, Failure, Unspecified
from instance import Instance
from strand import Strand

REMINDER = "cairn.task.reminder"
NOT_RETRIED = {"definition", "expression", "authorization", "business"}


def same(a, b):
    """JSON equality that tells true from 1."""
    if type(a) is not type(b):
        return type(a) in (int, float) and type(b) in (int, float) and a == b
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b


def merge_patch(target, patch):
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for key, part in patch.items():
        if part is None:
            target.pop(key, None)
        else:
            target[key] = merge_patch(target.get(key), part)
    return target


class World:
    """`script` answers the choices that the specification leaves open, in the order they come up."""

    def __init__(self, case, script, coverage):
        self.case, self.script, self.coverage = case, script, coverage
        self.config = case.get("config") or {}
        self.options = []
        self.instances = {}
        self.definitions = {}
        for definition in case["definitions"]:
            self.definitions.setdefault(definition["name"], []).append(definition)
        self.task_order = {}
        seen = {}
        for task in case["tasks"]:
            self.task_order[task["id"]] = seen.setdefault(task["instance"], 0)
            seen[task["instance"]] += 1

    def reached(self, kind, what):
        self.coverage[(kind, what)] = self.coverage.get((kind, what), 0) + 1

    def choose(self, options):
        """One of what the specification allows, as far as it leaves it open."""
        at = len(self.options)
        self.options.append(len(options))
        return options[self.script[at] if at < len(self.script) else 0]

    def definition(self, name, version):
        known = self.definitions.get(name, [])
        if version is None:
            return known[-1] if known else None
        return next((one for one in known if one["version"] == version), None)

    def replay(self):
        self.refuse_interrupted_slices()
        for number, entry in enumerate(self.case["history"]):
            try:
                self.apply(entry)
            except Difference as difference:
                raise Difference(f"history[{number}] {entry['event']}: {difference}") from None

    def refuse_interrupted_slices(self):
        """What an event means that comes in the middle of a slice is nowhere said."""
        cut = set()
        for entry in self.case["history"]:
            if entry["event"] in ("attempt", "refused", "broadcast", "assign"):
                continue
            if entry["instance"] in cut and entry["event"] != "continued":
                raise Unspecified("an event in the middle of a slice that a checkpoint cut")
            cut.discard(entry["instance"])
            if entry.get("cut"):
                cut.add(entry["instance"])

    def apply(self, entry):
        event = entry["event"]
        self.reached("event", event)
        if event in ("attempt", "assign", "continued"):
            return None
        if event == "broadcast":
            return self.broadcast(entry)
        if event == "start":
            return self.start(entry)
        if event == "refused":
            return self.refused(entry["request"])
        instance = self.instances.get(entry["instance"])
        if instance is None:
            raise Difference(f"no instance {entry['instance']}")
        if instance.is_final():
            raise Difference(f"the instance is {instance.status} already")
        if event == "unexplained":
            raise Difference("nothing in the record caused this commit")
        instance.now = entry["at"]
        instance.slice += 1
        getattr(self, "on_" + event)(instance, entry)
        if not instance.is_final():
            instance.rest()
        return None

    def broadcast(self, entry):
        """To every instance that waits for this name and key and has not had it; kept when none does."""
        waiting = {instance.id for instance in self.instances.values() for wait in instance.waits
                   if wait.kind == "signal" and wait.facts["name"] == entry["name"]
                   and entry["id"] not in instance.signal_ids
                   and wait.facts["key"] in (None, entry.get("key"))}
        if waiting != set(entry["delivered"]) or entry["kept"] == bool(waiting):
            raise Difference(f"sent to {sorted(entry['delivered'])}, but {sorted(waiting)} wait for it")

    # Starts.

    def start(self, entry):
        given, reference, inherited = entry["input"], entry.get("reference"), None
        definition = self.definition(entry["definition"], entry["version"])
        if entry.get("starter"):
            starter = self.instances[entry["starter"]]
            start = next((one for one in starter.starts if one["instance"] is None and one["step"] == entry["step"]
                          and one["definition"] is definition), None)
            if start is None:
                raise Difference(f"step {entry['step']} did not start a {entry['definition']}")
            if not same(start["input"], given):
                raise Difference(f"input {given}, expected {start['input']}")
            start["instance"] = entry["instance"]
            reference, inherited = start["reference"], start["inherited"]
        if not schema.fits(definition.get("input"), given):
            raise Difference("the input schema refuses this input")
        instance = Instance(self, entry["instance"], definition, given, reference, inherited, entry["at"])
        self.instances[instance.id] = instance
        instance.begin()

    # Wake-ups. A suspended instance holds them until it continues.

    def on_task(self, instance, entry):
        task = self.open_task(instance, entry)
        reason = self.refusal(instance, task, entry["by"], entry["payload"])
        if reason:
            raise Difference(f"a completion was accepted that {reason} refuses")
        wait = next(one for one in instance.waits if one.kind == "task" and one.task is task)
        task["id"] = entry["task"]
        instance.wake(wait.strand, (wait, {"by": entry["by"], "payload": entry["payload"]}))

    def open_task(self, instance, entry):
        at = self.task_order.get(entry["task"])
        if at is None or at >= len(instance.tasks):
            raise Difference(f"there is no task {entry['name']} here")
        task = instance.tasks[at]
        if (task["step"], task["name"]) != (entry["step"], entry["name"]):
            raise Difference(f"task {at} is {task['name']} of {task['step']}, not {entry['name']} of {entry['step']}")
        if task["status"] != "open":
            raise Difference(f"the task is {task['status']}")
        return task

    def refusal(self, instance, task, by, payload):
        """What refuses this completion; None when nothing does (rules S4, R5)."""
        if instance.status == "suspended":
            return "the suspended instance"
        try:  # evaluated now, not when the task was opened
            if by in instance.value(task["fields"]["exclude"], task["scope"]):
                return "exclude"
        except Failure:
            return "exclude"
        if not schema.fits(task["fields"].get("form"), payload):
            return "form"
        scope = task["scope"].with_lane(task=steps.task_name(instance, task, by), completion=payload)
        for guard in task["fields"]["require"]:
            try:
                if not instance.condition(guard, scope):
                    return "require"
            except Failure:
                return "require"
        return None

    def refused(self, request):
        instance = self.instances.get(request.get("instance"))
        if request["event"] != "task" or instance is None or instance.is_final():
            return
        instance.now = request.get("at", instance.now)
        try:
            task = self.open_task(instance, request)
        except Difference:
            return
        if self.refusal(instance, task, request["by"], request["payload"]) is None:
            raise Difference("nothing refuses this completion")

    def on_signal(self, instance, entry):
        if entry["id"] in instance.signal_ids:
            raise Difference("a signal was applied twice")
        instance.signal_ids.add(entry["id"])
        signal = {"id": entry["id"], "name": entry["name"], "key": entry.get("key"), "payload": entry["payload"]}
        if instance.status == "suspended":
            instance.kept.append(signal)
            instance.held.append((None, signal))
        elif not self.offer(instance, signal):
            instance.kept.append(signal)

    def offer(self, instance, signal):
        """Rule S11: to the wait that was opened first. Whether a wait used it."""
        faulted = []
        for wait in sorted((one for one in instance.waits if one.kind == "signal"), key=lambda one: one.order):
            if not wait.open:
                continue
            try:
                fits = steps.signal_fits(instance, wait, signal)
            except Failure as failure:
                # The other waits may be asked before the error leaves its step, or after.
                if self.choose(["first", "last"]) == "last":
                    faulted.append((wait, failure))
                    continue
                instance.wake(wait.strand, throw=failure)
                if instance.status in ("suspended", "completed", "failed"):
                    return False
                continue
            if fits:
                instance.wake(wait.strand, (wait, signal))
                self.raise_all(instance, faulted)
                return True
        self.raise_all(instance, faulted)
        return False

    def raise_all(self, instance, faulted):
        for wait, failure in faulted:
            if wait.open and instance.status not in ("suspended", "completed", "failed"):
                instance.wake(wait.strand, throw=failure)

    def on_timer(self, instance, entry):
        if entry["due"] > entry["at"]:
            raise Difference("a timer fired early")
        found = [wait for wait in instance.waits if wait.kind == "timer" and wait.step["id"] == entry["step"]
                 and wait.due == entry["due"] and not self.is_held(instance, wait)]
        if not found:
            raise Difference(f"no timer of {entry['step']} is due at {entry['due']}")
        wait = found[0]
        if self.case.get("timers_in_order"):
            # Of an instance, timers fire in the order they fall due, and of equal ones in the order they were set.
            self.check_order(instance, wait)
        elif len(found) > 1:
            wait = self.choose(found)
        if instance.status == "suspended":
            instance.held.append((wait, None))
        else:
            self.fire(instance, wait)

    def check_order(self, instance, fired):
        for wait in instance.waits:
            if wait.kind == "timer" and (wait.due, wait.order) < (fired.due, fired.order) and not self.is_held(instance, wait):
                raise Difference(f"a timer of {fired.step['id']} due at {fired.due} fired before one of "
                                 f"{wait.step['id']} due at {wait.due}")

    def is_held(self, instance, wait):
        return any(one is wait for one, _ in instance.held)

    def fire(self, instance, wait):
        if wait.on == "wake":
            return instance.wake(wait.strand, (wait, None))
        instance.close(wait)
        if wait.on == "remind":
            self.reached("lane", "reminder")
            instance.events.append({"type": REMINDER, "task": wait.task["name"]})
            return None
        self.reached("lane", "deadline that does not interrupt")
        owner = wait.strand
        strand = Strand(owner, "deadline")
        scope = wait.scope.with_lane(task=steps.task_name(instance, wait.task))
        strand.body = instance.block(strand, wait.deadline["steps"], scope)
        owner.children.append(strand)
        instance.run(strand)
        return None

    def on_run(self, instance, entry):
        wait = self.waiting(instance, "run", entry["step"])
        error = entry.get("error")
        if error and not self.is_last(wait.run, entry, error):
            raise Difference(f"attempt {entry['attempt']} of {wait.run['attempts_max']} was the last one")
        # The run has ended whatever becomes of its result.
        wait.run.update(id=entry["run"], status="failed" if error else "succeeded")
        self.deliver(instance, wait, entry)

    def is_last(self, run, entry, error):
        """Rule S18: whether nothing is left to try."""
        return (entry["attempt"] >= run["attempts_max"] or error["class"] in NOT_RETRIED
                or error["code"] == "no_handler_registered" or entry.get("retry") is False)

    def on_child(self, instance, entry):
        wait = self.waiting(instance, "child", entry["step"])
        child = self.instances.get(entry["child"])
        if child is None or wait.start["instance"] != entry["child"]:
            raise Difference(f"step {entry['step']} does not wait for {entry['child']}")
        if not child.is_final():
            raise Difference("its parent heard of a child that has not ended")
        self.deliver(instance, wait, child)

    def waiting(self, instance, kind, step):
        for wait in instance.waits:
            if wait.kind == kind and wait.step["id"] == step and not self.is_held(instance, wait):
                return wait
        raise Difference(f"step {step} does not wait for a {kind}")

    def deliver(self, instance, wait, answer):
        if instance.status == "suspended":
            instance.held.append((wait, answer))
        else:
            instance.wake(wait.strand, (wait, answer))

    # Operators.

    def on_cancel(self, instance, entry):
        if entry.get("from"):
            parent = self.instances[entry["from"]]
            wanted = any(start["instance"] == instance.id and start["cancelled"] for start in parent.starts)
            if not wanted:
                raise Difference("the parent did not cancel this child")
        instance.cancel_strand(instance.main)
        instance.error = Failure("business", "cancelled")
        instance.status = "cancelled"

    def on_suspend(self, instance, entry):
        if instance.status == "suspended":
            raise Difference("suspended twice")
        instance.status = "suspended"

    def on_resume(self, instance, entry):
        if instance.status != "suspended":
            raise Difference("resumed, but not suspended")
        if instance.incident is not None:
            raise Unspecified("resuming an incident as it is")
        self.go_on(instance)

    def on_retry(self, instance, entry):
        self.decide(instance, ("retry", None))

    def on_skip(self, instance, entry):
        self.decide(instance, ("skip", entry.get("result")))

    def decide(self, instance, decision):
        if instance.status != "suspended" or instance.incident is None:
            raise Difference("nothing failed here")
        strand, instance.incident, instance.error = instance.incident, None, None
        instance.status = "running"
        self.go_on(instance, lambda: instance.run(strand, answer=decision))

    def go_on(self, instance, failed=lambda: None):
        """What the suspension held back, in the order it came; then the failed step and what else could have run."""
        instance.status = "running"
        instance.holding = True
        failed()
        instance.holding = False
        if instance.status == "running":
            self.offer_kept(instance)
        if instance.status == "running":
            self.deliver_held(instance)
        while instance.frozen and instance.status == "running":
            instance.run(instance.frozen.pop(0))

    def deliver_held(self, instance):
        kinds = ["signal" if wait is None else wait.kind for wait, _ in instance.held]
        for earlier, later in (("timer", "signal"), ("signal", "timer")):
            if earlier in kinds and later in kinds[kinds.index(earlier):]:
                self.reached("meeting", f"held {earlier} before a {later}")
        while instance.held and instance.status == "running":
            wait, answer = instance.held.pop(0)
            if wait is None:
                self.deliver_held_signal(instance, answer)
            elif not wait.open:
                continue  # stale
            elif wait.kind == "timer":
                self.reached("lane", "held timer")
                self.fire(instance, wait)
            else:
                self.reached("lane", "held answer")
                instance.wake(wait.strand, (wait, answer))

    def deliver_held_signal(self, instance, signal):
        if signal not in instance.kept:
            return  # a wait that opened meanwhile took it
        self.reached("lane", "held signal")
        at = instance.kept.index(signal)
        instance.kept.remove(signal)
        if not self.offer(instance, signal):
            instance.kept.insert(at, signal)

    def offer_kept(self, instance):
        """Those from before the suspension: an operator may have changed what `where` says about them."""
        held = [signal for wait, signal in instance.held if wait is None]
        for signal in [one for one in instance.kept if one not in held]:
            if instance.status != "running":
                return
            if signal not in instance.kept:
                continue  # a wait that opened meanwhile took it
            for wait in sorted((one for one in instance.waits if one.kind == "signal"), key=lambda one: one.order):
                try:
                    fits = steps.signal_fits(instance, wait, signal)
                except Failure:
                    continue
                if fits:
                    instance.kept.remove(signal)
                    instance.wake(wait.strand, (wait, signal))
                    break

    def on_edit(self, instance, entry):
        instance.state = merge_patch(copy.deepcopy(instance.state), entry["patch"])
