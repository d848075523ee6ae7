"""What each kind of step does: one function per kind, from docs/semantics.md, rules S1 to S34."""
import copy
import json

import schema
from failure import Completed, Failure, Reentered, Thrown
from strand import Frozen, Join, Strand, TryHandler, Wait, Waits
from times import Time

SKIPPED = "skipped"  # by an operator: the step did not end without error


def do_set(instance, strand, step, scope):
    before = instance.state
    changed = copy.deepcopy(before)
    try:
        for entry in step["set"]:
            instance.state = changed  # each entry sees those before it
            instance.assign(changed, entry["path"], instance.value(entry["value"], scope))
    except Failure:
        instance.state = before  # rule S1: nothing changes when one fails
        raise
    return
    yield


def evaluated_reference(instance, reference, scope, before):
    key = before["key"]
    if "key" in reference:
        key = instance.value(reference["key"], scope)
    return {"key": key, "parts": instance.value(reference.get("parts", {}), scope)}


def do_reference(instance, strand, step, scope):
    instance.reference = evaluated_reference(instance, step["reference"], scope, instance.reference)
    return
    yield


def do_if(instance, strand, step, scope):
    lane = "then" if instance.condition(step["if"], scope) else "else"
    instance.world.reached("lane", lane)
    yield from instance.block(strand, step[lane], scope)


def do_switch(instance, strand, step, scope):
    for entry in step["switch"]:
        if "default" in entry:
            instance.world.reached("lane", "default")
            yield from instance.block(strand, entry["default"], scope)
            return
        if instance.condition(entry["when"], scope):
            instance.world.reached("lane", "case")
            yield from instance.block(strand, entry["steps"], scope)
            return


def round_count(instance, repeat, scope):
    """What is evaluated once, when the loop begins: the items, or how many rounds; None for `while`."""
    if "for_each" in repeat:
        items = instance.value(repeat["for_each"], scope)
        if not isinstance(items, list):
            raise Failure("expression", "invalid_argument", "for_each takes a list")
        return items
    if "times" in repeat:
        times = instance.value(repeat["times"], scope)
        if type(times) is not int:
            raise Failure("expression", "invalid_argument", "times takes a whole number")
        return [None] * max(0, times)
    return None


def next_round(instance, repeat, scope, items, index):
    """The names of a round, None when there is none."""
    names = scope.in_round(index)
    if items is None:
        if not instance.condition(repeat["while"], names):
            return None
    elif index >= len(items):
        return None
    elif "for_each" in repeat:
        names = scope.in_round(index, repeat["as"], items[index])
    if "max" in repeat and index >= repeat["max"]:
        raise Failure("definition", "repeat_max")
    return names


def do_repeat(instance, strand, step, scope):
    repeat = step["repeat"]
    kind = next(k for k in ("for_each", "while", "times") if k in repeat)
    items, index = round_count(instance, repeat, scope), 0
    while True:
        try:
            names = next_round(instance, repeat, scope, items, index)
        except Failure as failure:
            if index == 0:
                raise
            decision = yield from instance.fault(strand, failure, step)
            if decision[0] == "skip":
                return SKIPPED
            # Whether "the failed step again" means this round or the whole loop is left open.
            if instance.world.choose(["round", "loop"]) == "loop":
                items, index = round_count(instance, repeat, scope), 0
            continue
        if names is None:
            return None
        instance.world.reached("lane", "repeat " + kind)
        index += 1
        yield from instance.block(strand, repeat["steps"], names)


def do_parallel(instance, strand, step, scope):
    parallel = step["parallel"]
    branches = parallel["branches"]
    needed = {"all": len(branches), "any": 1}.get(parallel["join"], parallel["join"])
    instance.world.reached("lane", f"join {parallel['join'] if isinstance(parallel['join'], str) else 'N'}")
    join = Join(needed)
    for branch in branches:
        child = Strand(strand, "branch", join)
        child.body = instance.block(child, branch["steps"], scope)
        strand.children.append(child)
        instance.run(child)
        while instance.status == "suspended":
            yield Frozen()
        if join.met() or join.only is not None:
            break
    if not join.met():
        yield join
    for child in list(strand.children):
        instance.world.reached("lane", "branch cancelled")
        instance.cancel_strand(child)
    if join.completed is not None:
        raise join.completed
    if join.failure is not None:
        raise join.failure


def evaluated_task(instance, fields, step, scope):
    def texts(name):
        given = instance.value(fields[name], scope)
        if not isinstance(given, list) or any(type(one) is not str for one in given):
            raise Failure("expression", "invalid_argument", name)
        return given

    title = instance.value(fields["title"], scope) if "title" in fields else fields["name"]
    if type(title) is not str:
        raise Failure("expression", "invalid_argument", "title")
    return {"step": step["id"], "name": fields["name"], "title": title, "roles": texts("roles"),
            "exclude": texts("exclude"), "payload": instance.value(fields["payload"], scope), "status": "open",
            "fields": fields, "scope": scope, "completed_by": None, "completion": None, "id": None,
            "created_at": instance.now, "slice": instance.slice}


def task_name(instance, task, by=None, at=None):
    named = {"id": task["id"], "name": task["name"], "title": task["title"], "roles": task["roles"],
             "payload": task["payload"], "created_at": Time(task["created_at"]).text(), "assignee": None}
    if by is not None:
        named["completed_by"], named["completed_at"] = by, Time(instance.now if at is None else at).text()
    return named


def open_task(instance, fields, step, scope, task):
    """The waits of a task: itself and its reminders."""
    instance.tasks.append(task)
    waits = [Wait("task", step, task=task)]
    for reminder in fields["remind"]:
        waits.append(Wait("timer", step, on="remind", due=instance.now + instance.duration(reminder, scope), task=task))
    return waits


def finish_task(instance, strand, step, fields, scope, task, answer):
    task.update(status="completed", completed_by=answer["by"], completion=answer["payload"])
    done_at = instance.now
    yield from instance.take_result(strand, step, fields.get("result"), answer["payload"])
    inner = scope.with_lane(task=task_name(instance, task, answer["by"], done_at), completion=answer["payload"])
    if fields["on_complete"]:
        instance.world.reached("lane", "on_complete")
    yield from instance.block(strand, fields["on_complete"], inner)
    return inner


def rest_on(instance, waits):
    """Waits for one of them; what an error from outside leaves open is abandoned."""
    try:
        return (yield Waits(waits))
    except (Failure, Completed):
        for wait in waits:
            instance.abandon(wait)
        raise


def do_task(instance, strand, step, scope):
    fields = step["task"]
    task = evaluated_task(instance, fields, step, scope)
    deadline = fields.get("deadline")
    due = None
    if deadline:
        due = (instance.now + instance.duration(deadline["after"], scope) if "after" in deadline
               else instance.instant(deadline["at"], scope))
    waits = open_task(instance, fields, step, scope, task)
    if deadline:
        waits.append(Wait("timer", step, on="wake" if deadline["interrupt"] else "deadline", due=due,
                          task=task, deadline=deadline, scope=scope))
    wait, answer = yield from rest_on(instance, waits)
    if wait is None:
        instance.world.reached("lane", "error replaces complete in a deadline")
        return
    for child in list(strand.children):
        instance.world.reached("lane", "deadline strand cancelled")
        instance.cancel_strand(child)
    if wait.kind == "timer":
        instance.world.reached("lane", "deadline")
        task["status"] = "expired"
        yield from instance.block(strand, deadline["steps"], scope.with_lane(task=task_name(instance, task)))
        return
    yield from finish_task(instance, strand, step, fields, scope, task, answer)


def with_lanes(instance, strand, fields, scope, act):
    """Rule S18: the step's own lane takes its error when there is one."""
    try:
        yield from act
        return
    except Failure as failure:
        if failure.kind == "timeout" and fields.get("on_timeout") is not None:
            lane, inner = "on_timeout", scope
        elif fields.get("on_failure") is not None:
            lane, inner = "on_failure", scope.with_lane(error=failure.as_name())
        else:
            raise
    instance.world.reached("lane", lane)
    yield from instance.block(strand, fields[lane], inner)


def kept_effect(strand, position, asked, undoing):
    """The effect of a call that failed before an operator retried a try around it, if this is the same request."""
    for outer in strand.lineage():
        for handler in outer.handlers:
            if handler.scope.undoing == undoing and position in handler.calls:
                request, effect = handler.calls.pop(position)
                return effect if request == asked else None
    return None


def do_call(instance, strand, step, scope):
    fields = step["call"]

    def request():
        parts = []
        if "worker" in fields:
            kind, payload = fields["worker"]["type"], instance.value(fields["worker"]["payload"], scope)
        elif "http" in fields:
            kind, payload = "cairn.http.v1", None
            http = fields["http"]
            parts = [instance.value(http[part], scope) for part in ("method", "url", "headers", "query")]
            if "body" in http:
                payload = instance.value(http["body"], scope)
        else:
            kind, payload = "cairn.graphql.v1", None
        return kind, payload, json.dumps([kind, payload, parts], sort_keys=True, default=str)

    def attempt():
        effect, strand.retried = strand.retried, None
        try:
            kind, payload, asked = request()
        except Failure as failure:
            failure.effect = effect
            raise
        position = (step["id"], scope.rounds)
        if effect is None:
            effect = kept_effect(strand, position, asked, scope.undoing)
        run = {"step": step["id"], "type": kind, "payload": payload, "status": "open", "slice": instance.slice,
               "attempts_max": fields["retry"]["attempts"], "same_slice": False, "id": None,
               "effect": effect or object(), "key": None}
        instance.runs.append(run)
        _, answer = yield from rest_on(instance, [Wait("run", step, run=run)])
        if "error" in answer and answer["error"] is not None:
            error = answer["error"]
            failure = Failure(error["class"], error["code"], error.get("message", ""), error.get("details"),
                              answer["attempt"])
            failure.effect = run["effect"]
            failure.calls, failure.undoing = {position: (asked, run["effect"])}, scope.undoing
            raise failure
        yield from instance.take_result(strand, step, fields.get("result"), answer.get("result"), fields.get("on_failure"))

    yield from with_lanes(instance, strand, fields, scope, attempt())


def do_wait(instance, strand, step, scope):
    due = wait_due(instance, step["wait"], scope)
    if due > instance.now:
        yield from rest_on(instance, [Wait("timer", step, due=due)])


def wait_due(instance, wait, scope):
    if "until" in wait:
        return instance.instant(wait["until"], scope)
    return instance.now + instance.duration(wait["for"], scope)


def signal_wait(instance, fields, step, scope):
    key = instance.value(fields["key"], scope) if "key" in fields else None
    return Wait("signal", step, name=fields["name"], key=key, where=fields.get("where"), scope=scope)


def signal_fits(instance, wait, signal):
    """Rules S11, R7. An error in `where` is an error of the waiting step."""
    if wait.facts["name"] != signal["name"]:
        return False
    if wait.facts["key"] is not None and wait.facts["key"] != signal["key"]:
        return False
    where = wait.facts["where"]
    return where is None or instance.condition(where, wait.facts["scope"].with_lane(signal=signal["payload"]))


def take_kept(instance, wait):
    """The oldest kept signal that fits, used up; None when there is none. One whose `where` fails does not fit."""
    for signal in list(instance.kept):
        try:
            fits = signal_fits(instance, wait, signal)
        except Failure:
            instance.world.reached("lane", "kept signal whose condition fails")
            continue
        if fits:
            instance.kept.remove(signal)
            return signal
    return None


def do_signal(instance, strand, step, scope):
    fields = step["signal"]
    wait = signal_wait(instance, fields, step, scope)
    waits = [wait]
    due = instance.now + instance.duration(fields["timeout"], scope) if "timeout" in fields else None
    signal = take_kept(instance, wait)
    if signal is None:
        if due is not None:
            waits.append(Wait("timer", step, due=due))
        fired, signal = yield from rest_on(instance, waits)
        if fired.kind == "timer":
            if fields.get("on_timeout") is None:
                raise Failure("timeout", "signal_timeout")
            instance.world.reached("lane", "on_timeout of a signal")
            yield from instance.block(strand, fields["on_timeout"], scope)
            return
    else:
        instance.world.reached("lane", "kept signal used")
    yield from instance.take_result(strand, step, fields.get("result"), signal["payload"])


def do_first(instance, strand, step, scope):
    waits, chosen = [], None
    tasks = {}
    for option in step["first"]:
        if "signal" in option:
            wait = signal_wait(instance, option["signal"], step, scope)
            signal = take_kept(instance, wait)
            if signal is not None:
                chosen = (option, wait, signal)
                break
            waits.append((option, wait))
        elif "wait" in option:
            due = wait_due(instance, option["wait"], scope)
            wait = Wait("timer", step, due=due)
            if due <= instance.now:
                chosen = (option, wait, None)
                break
            waits.append((option, wait))
        else:
            waits.append((option, None))
    if chosen is None:
        # No option won at once: only now is there anything to open.
        waits = [(option, wait or evaluated_task(instance, option["task"], step, scope)) for option, wait in waits]
        opened, of = [], {}
        for option, wait in waits:
            if isinstance(wait, dict):
                for one in open_task(instance, option["task"], step, scope, wait):
                    opened.append(one)
                    of[one] = option
                    tasks[one] = wait
            else:
                opened.append(wait)
                of[wait] = option
        fired, answer = yield from rest_on(instance, opened)
        for wait in opened:
            if wait is not fired:
                instance.abandon(wait)
        chosen = (of[fired], fired, answer)
    else:
        instance.world.reached("lane", "first won at once")
    option, fired, answer = chosen
    inner = scope
    if "signal" in option:
        instance.world.reached("lane", "first: signal")
        yield from instance.take_result(strand, step, option["signal"].get("result"), answer["payload"])
        inner = scope.with_lane(signal=answer["payload"])
    elif "task" in option:
        instance.world.reached("lane", "first: task")
        inner = yield from finish_task(instance, strand, step, option["task"], scope, tasks[fired], answer)
    else:
        instance.world.reached("lane", "first: wait")
    yield from instance.block(strand, option["steps"], inner)


def find_definition(instance, fields):
    found = instance.world.definition(fields["name"], fields.get("version"))
    if found is None:
        raise Failure("definition", "unknown_workflow", fields["name"])
    return found


def new_start(instance, step, fields, scope, inherits):
    given = instance.value(fields["input"], scope)
    reference = None
    if "reference" in fields:
        reference = evaluated_reference(instance, fields["reference"], scope, {"key": None, "parts": {}})
    definition = find_definition(instance, fields)
    if not schema.fits(definition.get("input"), given):
        raise Failure("definition", "invalid_input", fields["name"])
    start = {"step": step["id"], "definition": definition, "input": given, "reference": reference,
             "inherited": copy.deepcopy(instance.reference) if inherits else None, "slice": instance.slice,
             "instance": None, "cancelled": False, "same_slice": False}
    instance.starts.append(start)
    return start


def do_subworkflow(instance, strand, step, scope):
    fields = step["subworkflow"]

    def attempt():
        start = new_start(instance, step, fields, scope, True)
        _, child = yield from rest_on(instance, [Wait("child", step, start=start)])
        if child.status == "cancelled":
            raise Failure("business", "cancelled")
        if child.status == "failed":
            raise Failure(child.error.kind, child.error.code, child.error.message, child.error.details)
        yield from instance.take_result(strand, step, fields.get("result"), child.output, fields.get("on_failure"))

    yield from with_lanes(instance, strand, fields, scope, attempt())


def do_continue_with(instance, strand, step, scope):
    new_start(instance, step, step["continue_with"], scope, False)
    return
    yield


def do_emit(instance, strand, step, scope):
    emit = step["emit"]
    kind = instance.value(emit["type"], scope)
    subject = instance.value(emit["subject"], scope) if "subject" in emit else ""
    instance.events.append({"type": kind, "subject": subject, "data": instance.value(emit["data"], scope)})
    return
    yield


def do_try(instance, strand, step, scope):
    outer = strand.handlers
    calls = {}
    while True:
        handler = TryHandler(step, scope)
        handler.calls = calls
        try:
            yield from tried(instance, strand, step, scope, handler)
            return None
        except Reentered as reentered:
            strand.handlers = outer
            if reentered.target is not handler:
                raise
            if reentered.decision[0] == "skip":
                return SKIPPED
            calls = reentered.calls


def tried(instance, strand, step, scope, handler):
    outer = strand.handlers
    strand.handlers = outer + [handler]
    try:
        yield from instance.block(strand, step["try"], scope)
    except Thrown as thrown:
        strand.handlers = outer
        if thrown.target is not handler:
            raise
        instance.world.reached("lane", "catch")
        handler.catching = True
        handler.calls = {}
        strand.handlers = outer + [handler]
        inner = scope.with_lane(error=thrown.failure.as_name())
        try:
            yield from instance.block(strand, thrown.entry["steps"], inner)
        except Thrown:
            strand.handlers = outer
            raise
        except Completed:
            strand.handlers = outer
            yield from run_finally(instance, strand, handler, "finally of complete")
            raise
    except Completed:
        strand.handlers = outer
        yield from run_finally(instance, strand, handler, "finally of complete")
        raise
    strand.handlers = outer
    yield from run_finally(instance, strand, handler)


def run_finally(instance, strand, handler, lane="finally"):
    if handler.finally_done:
        return
    handler.finally_done = True
    instance.world.reached("lane", lane)
    waits = instance.wait_count
    yield from instance.block(strand, handler.step["finally"], handler.scope.without("error"))
    if lane == "finally of complete" and instance.wait_count > waits:
        branches = min(2, sum(one.kind == "branch" for one in strand.lineage()))
        instance.world.reached("meeting", f"waiting finally of complete in {branches} branches")


def undo_all(instance, strand, branch):
    """Entries from the newest on, each taken off before it runs (rules S15, S32)."""
    while True:
        entry = next((one for one in reversed(instance.compensations) if branch is None or branch in one[0]), None)
        if entry is None:
            return
        instance.compensations.remove(entry)
        instance.world.reached("lane", "compensate")
        yield from instance.block(strand, entry[1], entry[2])


def do_undo(instance, strand, step, scope):
    yield from undo_all(instance, strand, strand.branch())


def do_fail(instance, strand, step, scope):
    fail = step["fail"]
    message = instance.value(fail["message"], scope) if "message" in fail else fail["code"]
    details = instance.value(fail["details"], scope) if "details" in fail else None
    raise Failure("business", fail["code"], message, details)
    yield


def do_complete(instance, strand, step, scope):
    complete = step["complete"]
    output = instance.value(complete["output"], scope) if "output" in complete else None
    instance.cancel_others(strand)
    raise Completed("output" in complete, output)
    yield


KINDS = {name[3:]: act for name, act in list(globals().items()) if name.startswith("do_")}
