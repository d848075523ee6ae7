"""Holds what was there at the end of a case against what the specification explains."""
from failure import Difference
from world import REMINDER, World, same

TRIES_MAX = 1000


def judge(case, coverage):
    """None when the case is explained; otherwise the first difference, under the usual reading."""
    for family in families(case):
        difference = judge_family(family, coverage)
        if difference is not None:
            return difference
    return None


def families(case):
    """The case cut into instances that have nothing to do with each other, so that their open choices do not multiply.

    Who gets a broadcast depends on everybody who waits: such a case stays whole.
    """
    if any(entry["event"] == "broadcast" for entry in case["history"]):
        return [case]
    family_of = {}
    for entry in case["history"]:
        if entry["event"] == "start":
            family_of[entry["instance"]] = family_of.get(entry.get("starter"), entry["instance"])
    parts = {}
    for name in ("history", "instances", "tasks", "runs", "events"):
        for row in case[name]:
            ident = row["request"]["instance"] if row.get("event") == "refused" else row["id" if name == "instances" else "instance"]
            part = parts.setdefault(family_of.get(ident), dict(case, history=[], instances=[], tasks=[], runs=[], events=[]))
            part[name].append(row)
    return list(parts.values())


def judge_family(case, coverage):
    script, first = [], None
    for _ in range(TRIES_MAX):
        world = World(case, script, coverage)
        try:
            world.replay()
            compare(case, world)
            return None
        except Difference as difference:
            first = first or difference
        script = next_script(world, script)
        if script is None:
            break
    return first


def next_script(world, script):
    """The next way through the open choices; None after the last."""
    taken = (script + [0] * len(world.options))[:len(world.options)]
    while taken:
        if taken[-1] + 1 < world.options[-1]:
            taken[-1] += 1
            return taken
        taken.pop()
        world.options.pop()
    return None


def of_instance(rows, ident):
    return [row for row in rows if row["instance"] == ident]


def compare(case, world):
    observed = {row["id"]: row for row in case["instances"]}
    if observed.keys() != world.instances.keys():
        raise Difference(f"instances {sorted(observed)}, expected {sorted(world.instances)}")
    for ident, instance in world.instances.items():
        try:
            compare_instance(observed[ident], instance)
            compare_tasks(of_instance(case["tasks"], ident), instance)
            compare_runs(of_instance(case["runs"], ident), instance)
            compare_events(of_instance(case["events"], ident), instance)
            compare_children(world, instance)
            if case.get("end") is not None:
                compare_rest(world, instance, case["end"])
        except Difference as difference:
            raise Difference(f"instance {ident} ({instance.definition['name']}): {difference}") from None
    compare_keys([run for instance in world.instances.values() for run in instance.runs if run["key"] is not None])


def expect(what, observed, expected):
    if not same(observed, expected):
        raise Difference(f"{what} is {observed}, expected {expected}")


def compare_instance(row, instance):
    expect("status", row["status"], instance.status)
    expect("state", row["state"], instance.state)
    if instance.status == "completed":
        expect("output", row["output"], instance.output)
    expect("reference", row["reference"], instance.reference)
    error = row.get("error")
    if instance.error is None or instance.status in ("completed", "waiting"):
        expect("error", error, None)
    elif instance.status != "cancelled":
        if error is None:
            raise Difference(f"no error, expected {instance.error}")
        for name, value in (("class", instance.error.kind), ("code", instance.error.code),
                            ("step", instance.error.step or None), ("attempt", instance.error.attempt)):
            expect(f"error.{name}", error.get(name) or None, value)
        if instance.error.kind == "business":
            expect("error.details", error.get("details"), instance.error.details)
            if instance.error.message:
                expect("error.message", error.get("message"), instance.error.message)
    if not instance.is_final():
        expect("kept signals", row.get("signals", []), [signal["name"] for signal in instance.kept])


def compare_tasks(rows, instance):
    for row, task in zip(rows, instance.tasks):
        for name in ("step", "name", "title", "roles", "exclude", "payload"):
            expect(f"task {row['name']}: {name}", row[name], task[name])
        status = "open" if row["status"] == "assigned" else row["status"]
        expect(f"task {row['name']}: status", status, task["status"])
        if task["status"] == "completed":
            expect(f"task {row['name']}: completed_by", row["completed_by"], task["completed_by"])
            expect(f"task {row['name']}: completion", row["completion"], task["completion"])
    if len(rows) != len(instance.tasks):
        raise Difference(f"tasks {[row['name'] + ' of ' + row['step'] for row in rows]}, "
                         f"expected {[task['name'] + ' of ' + task['step'] for task in instance.tasks]}")


def fits_run(row, run):
    if (row["step"], row["type"]) != (run["step"], run["type"]):
        return False
    if run["type"].startswith("cairn."):
        return run["payload"] is None or same(row["payload"].get("body"), run["payload"])
    return same(row["payload"], run["payload"])


def compare_runs(rows, instance):
    left = list(rows)
    for run in instance.runs:
        if left and fits_run(left[0], run):
            row = left.pop(0)
            run["key"] = row["idempotency_key"]
            wanted = {"open": ("pending", "leased")}.get(run["status"], (run["status"],))
            if row["status"] not in wanted:
                raise Difference(f"run of {row['step']} is {row['status']}, expected {' or '.join(wanted)}")
            expect(f"run of {row['step']}: attempts_max", row["attempts_max"], run["attempts_max"])
        elif not (run["status"] == "cancelled" and run["same_slice"]):
            # A call that its own slice gave up again need not have been written.
            raise Difference(f"no run {run['type']} of {run['step']} with {run['payload']}; "
                             f"there is {[(row['step'], row['type'], row['payload']) for row in left]}")
    if left:
        raise Difference(f"runs that nothing asked for: {[(row['step'], row['type'], row['payload']) for row in left]}")


def compare_keys(runs):
    """Rule E3: one key for each effect. A retry by an operator is the same effect again."""
    effects = {run["key"]: run["effect"] for run in runs}
    keys = {run["effect"]: run["key"] for run in runs}
    for run in runs:
        if effects[run["key"]] is not run["effect"]:
            raise Difference("two effects have the same idempotency key")
        if keys[run["effect"]] != run["key"]:
            raise Difference(f"the retry of {run['step']} has another idempotency key")


def compare_events(rows, instance):
    shown = [{"type": row["type"], "task": row["data"]["task"]["name"]} if row["type"] == REMINDER else
             {"type": row["type"], "subject": row["subject"], "data": row["data"]} for row in rows]
    expect("events", shown, instance.events)


def compare_children(world, instance):
    for start in instance.starts:
        if start["instance"] is None:
            if not (start["cancelled"] and start["same_slice"]):
                raise Difference(f"step {start['step']} started {start['definition']['name']}, but nothing began")
        elif start["cancelled"] and not world.instances[start["instance"]].is_final():
            raise Difference(f"the child of {start['step']} should be cancelled")


def compare_rest(world, instance, end):
    """At the end of a quiet case nothing that was due is left."""
    if instance.status == "suspended":
        return
    if instance.status == "waiting" and not instance.waits:
        raise Difference("it waits, and nothing is open that could wake it")
    for wait in instance.waits:
        if wait.kind == "timer" and wait.due <= end:
            raise Difference(f"a timer of {wait.step['id']} was due at {wait.due} and did not fire")
        if wait.kind == "child" and wait.start["instance"] and world.instances[wait.start["instance"]].is_final():
            raise Difference(f"the parent did not hear of the end of the child of {wait.step['id']}")
