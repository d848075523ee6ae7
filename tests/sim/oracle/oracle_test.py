#!/usr/bin/env python3
"""The judge judged: cases that must be explained, and the same cases with one thing changed, which must not be."""
import copy
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from expressions import evaluate, parse, value  # noqa: E402
from failure import Failure  # noqa: E402
from verdict import judge  # noqa: E402


def definition(steps, **more):
    return {"name": "root", "version": "1.0.0", "on_error": "suspend", "checkpoint": "wait", "state": {"l": []},
            "steps": steps, **more}


def expr(text):
    return {"$expr": text}


def trace(ident, text):
    return {"type": "set", "id": ident, "set": [{"path": "l", "value": expr(f"state.l + [{text}]")}]}


def task(ident, name, **fields):
    return {"type": "task", "id": ident,
            "task": {"name": name, "roles": [], "exclude": [], "payload": {}, "require": [], "remind": [],
                     "on_complete": [], "priority": 0, **fields}}


def task_row(ident, step, name, status, by=None, completion=None):
    return {"id": ident, "instance": "i", "step": step, "name": name, "title": name, "status": status, "roles": [],
            "exclude": [], "payload": {}, "completed_by": by, "completion": completion}


def case(made, history, row, tasks=(), runs=(), events=()):
    start = {"event": "start", "instance": "i", "at": 1000, "definition": "root", "version": "1.0.0", "input": {}}
    instance = {"id": "i", "definition": "root", "version": "1.0.0", "output": None,
                "reference": {"key": None, "parts": {}}, **row}
    return {"record": 1, "workflow_seed": 0, "environment_seed": 0, "definitions": [made],
            "history": [start, *history], "instances": [instance], "tasks": list(tasks), "runs": list(runs),
            "events": list(events), "end": 1_000_000}


def completion(ident, step, name, payload, at=2000, by="ann"):
    return {"event": "task", "instance": "i", "at": at, "task": ident, "step": step, "name": name, "by": by,
            "payload": payload}


class Explained(unittest.TestCase):
    def explained(self, record):
        self.assertIsNone(judge(record, {}))

    def differs(self, record, text):
        self.assertIn(text, str(judge(record, {})))

    def test_a_task_and_its_result(self):
        made = definition([task("a", "T", result="r"), trace("b", "state.r")], output=expr("state.l"))
        record = case(made, [completion("t1", "a", "T", 5)],
                      {"status": "completed", "state": {"l": [5], "r": 5}, "output": [5]},
                      [task_row("t1", "a", "T", "completed", "ann", 5)])
        self.explained(record)
        for path, wrong, text in ((("instances", 0, "output"), [6], "output"),
                                  (("instances", 0, "status"), "waiting", "status"),
                                  (("instances", 0, "state"), {"l": [5]}, "state"),
                                  (("tasks", 0, "completed_by"), "bob", "completed_by"),
                                  (("tasks",), [], "T"),
                                  (("history", 1, "payload"), 6, "state")):
            changed = copy.deepcopy(record)
            at = changed
            for part in path[:-1]:
                at = at[part]
            at[path[-1]] = wrong
            self.differs(changed, text)

    def test_a_join_of_any_cancels_the_rest(self):
        made = definition([{"type": "parallel", "id": "p", "parallel": {
            "join": "any", "branches": [{"name": "x", "steps": [task("a", "A"), trace("b", "1")]},
                                        {"name": "y", "steps": [task("c", "C"), trace("d", "2")]}]}}])
        tasks = [task_row("t1", "a", "A", "cancelled"), task_row("t2", "c", "C", "completed", "ann", {})]
        record = case(made, [completion("t2", "c", "C", {})], {"status": "completed", "state": {"l": [2]}}, tasks)
        self.explained(record)
        record["tasks"][0]["status"] = "open"
        self.differs(record, "task A: status")

    def test_finally_runs_before_the_outer_catch(self):
        made = definition([{"type": "try", "id": "o", "try": [
            {"type": "try", "id": "i", "try": [{"type": "fail", "id": "f", "fail": {"code": "x"}}], "catch": [],
             "finally": [trace("a", "1")]}], "catch": [{"when": expr("size(state.l) == 1"), "steps": [trace("b", "2")]}],
            "finally": [trace("c", "3")]}])
        self.explained(case(made, [], {"status": "completed", "state": {"l": [1, 2, 3]}}))
        self.differs(case(made, [], {"status": "completed", "state": {"l": [2, 1, 3]}}), "state")

    def test_complete_wins_while_its_finally_waits(self):
        wait = {"type": "wait", "id": "w", "wait": {"for": "PT5S"}}
        completing = {"type": "try", "id": "t", "try": [{"type": "complete", "id": "c", "complete": {"output": 1}}], "catch": [],
                      "finally": [wait]}
        made = definition([{"type": "parallel", "id": "p", "parallel": {
            "join": "any", "branches": [{"name": "x", "steps": [completing]}, {"name": "y", "steps": [trace("y", "2")]}]}},
            trace("after", "3")])
        fired = {"event": "timer", "instance": "i", "at": 6000, "step": "w", "due": 6000}
        self.explained(case(made, [fired], {"status": "completed", "state": {"l": []}, "output": 1}))
        self.differs(case(made, [], {"status": "completed", "state": {"l": [2, 3]}}), "status")

    def test_an_error_that_replaces_complete_leaves_one_branch(self):
        completing = {"type": "try", "id": "t", "try": [{"type": "complete", "id": "c", "complete": {}}], "catch": [],
                      "finally": [{"type": "fail", "id": "f", "fail": {"code": "x"}}]}
        around = {"type": "try", "id": "o", "try": [completing], "catch": [{"steps": [trace("k", "1")]}], "finally": []}
        made = definition([{"type": "parallel", "id": "p", "parallel": {
            "join": "all", "branches": [{"name": "x", "steps": [around]}, {"name": "y", "steps": [trace("y", "2")]}]}},
            trace("after", "3")])
        self.explained(case(made, [], {"status": "completed", "state": {"l": [1, 3]}}))
        self.differs(case(made, [], {"status": "completed", "state": {"l": [1, 2, 3]}}), "state")
        self.differs(case(made, [], {"status": "waiting", "state": {"l": [1]}}), "status")

    def test_what_comes_in_a_suspension_is_applied_in_order(self):
        made = definition([{"type": "first", "id": "f", "first": [
            {"signal": {"name": "s"}, "steps": [trace("a", "1")]}, {"wait": {"for": "PT5S"}, "steps": [trace("b", "2")]}]}])
        suspend = {"event": "suspend", "instance": "i", "at": 2000}
        fired = {"event": "timer", "instance": "i", "at": 6000, "step": "f", "due": 6000}
        signal = {"event": "signal", "instance": "i", "at": 7000, "id": "s1", "name": "s", "payload": None}
        resume = {"event": "resume", "instance": "i", "at": 8000}
        self.explained(case(made, [suspend, fired, signal, resume], {"status": "completed", "state": {"l": [2]}}))
        self.differs(case(made, [suspend, fired, signal, resume], {"status": "completed", "state": {"l": [1]}}), "state")
        self.explained(case(made, [suspend, signal, fired, resume], {"status": "completed", "state": {"l": [1]}}))

    def test_a_result_that_cannot_be_assigned_is_kept(self):
        made = definition([task("a", "T", result="c.x")], state={"l": [], "c": 1}, output=expr("state.c"))
        edit = {"event": "edit", "instance": "i", "at": 3000, "patch": {"c": None}}
        retry = {"event": "retry", "instance": "i", "at": 4000}
        done = [task_row("t1", "a", "T", "completed", "ann", 5)]
        record = case(made, [completion("t1", "a", "T", 5), edit, retry],
                      {"status": "completed", "state": {"l": [], "c": {"x": 5}}, "output": {"x": 5}}, done)
        self.explained(record)
        record["tasks"].append(task_row("t2", "a", "T", "open"))
        self.differs(record, "tasks")

    def test_a_retried_call_keeps_its_key_and_no_other_call_has_it(self):
        def call(ident):
            return {"type": "call", "id": ident, "call": {"worker": {"type": "w.v1", "payload": 1}, "retry": {"attempts": 1}}}

        def end(ident, step, at, **how):
            return {"event": "run", "instance": "i", "at": at, "run": ident, "step": step, "attempt": 1, **how}

        def row(ident, step, key, status="succeeded"):
            return {"id": ident, "instance": "i", "step": step, "type": "w.v1", "idempotency_key": key, "payload": 1,
                    "status": status, "attempt": 1, "attempts_max": 1}

        error = {"class": "transport", "code": "no", "message": "", "details": None}
        retry = {"event": "retry", "instance": "i", "at": 3000}
        record = case(definition([call("a"), call("b")]),
                      [end("r1", "a", 2000, error=error), retry, end("r2", "a", 4000, result=1), end("r3", "b", 5000, result=1)],
                      {"status": "completed", "state": {"l": []}},
                      runs=[row("r1", "a", "k1", "failed"), row("r2", "a", "k1"), row("r3", "b", "k3")])
        self.explained(record)
        record["runs"][2]["idempotency_key"] = "k1"
        self.differs(record, "two effects have the same idempotency key")
        record["runs"][1]["idempotency_key"], record["runs"][2]["idempotency_key"] = "k2", "k3"
        self.differs(record, "the retry of a has another idempotency key")

    def test_a_retried_try_keeps_the_key_of_the_call_that_failed(self):
        def call(ident):
            return {"type": "call", "id": ident, "call": {"worker": {"type": "w.v1", "payload": 1}, "retry": {"attempts": 1}}}

        def end(ident, step, at, **how):
            return {"event": "run", "instance": "i", "at": at, "run": ident, "step": step, "attempt": 1, **how}

        def row(ident, step, key, status="succeeded"):
            return {"id": ident, "instance": "i", "step": step, "type": "w.v1", "idempotency_key": key, "payload": 1,
                    "status": status, "attempt": 1, "attempts_max": 1}

        error = {"class": "transport", "code": "no", "message": "", "details": None}
        record = case(definition([{"type": "try", "id": "t", "try": [call("a"), call("b")], "catch": [],
                                   "finally": [{"type": "set", "id": "f", "set": [{"path": "tried", "value": True}]}]}]),
                      [end("r1", "a", 2000, result=1), end("r2", "b", 3000, error=error), {"event": "retry", "instance": "i", "at": 4000},
                       end("r3", "a", 5000, result=1), end("r4", "b", 6000, result=1)],
                      {"status": "completed", "state": {"l": [], "tried": True}},
                      runs=[row("r1", "a", "k1"), row("r2", "b", "k2", "failed"), row("r3", "a", "k3"), row("r4", "b", "k2")])
        self.explained(record)
        record["runs"][3]["idempotency_key"] = "k4"
        self.differs(record, "the retry of b has another idempotency key")
        record["runs"][3]["idempotency_key"], record["runs"][2]["idempotency_key"] = "k2", "k1"
        self.differs(record, "two effects have the same idempotency key")

    def test_an_incident_waits_for_an_operator(self):
        made = definition([{"type": "set", "id": "a", "set": [{"path": "x", "value": expr("state.y")}]}])
        failed = case(made, [], {"status": "suspended", "state": {"l": []},
                                 "error": {"class": "expression", "code": "no_such_key", "step": "a", "attempt": 1}})
        self.explained(failed)
        edit = {"event": "edit", "instance": "i", "at": 3000, "patch": {"y": 4}}
        retry = {"event": "retry", "instance": "i", "at": 4000}
        self.explained(case(made, [edit, retry], {"status": "completed", "state": {"l": [], "x": 4, "y": 4}}))
        self.differs(case(made, [retry], {"status": "completed", "state": {"l": []}}), "status")

    def test_a_timer_may_be_late_and_never_early(self):
        made = definition([{"type": "wait", "id": "w", "wait": {"for": "PT5S"}}])
        fired = {"event": "timer", "instance": "i", "at": 6000, "step": "w", "due": 6000}
        self.explained(case(made, [fired], {"status": "completed", "state": {"l": []}}))
        self.explained(case(made, [{**fired, "at": 9000}], {"status": "completed", "state": {"l": []}}))
        self.differs(case(made, [{**fired, "at": 5999}], {"status": "completed", "state": {"l": []}}), "early")
        self.differs(case(made, [], {"status": "waiting", "state": {"l": []}}), "did not fire")

    def test_equal_timers_of_one_step_may_fire_in_any_order_on_several_nodes(self):
        options = [{"wait": {"for": "PT5S"}, "steps": [trace("a", "1")]}, {"wait": {"for": "PT5S"}, "steps": [trace("b", "2")]}]
        made = definition([{"type": "first", "id": "f", "first": options}])
        fired = {"event": "timer", "instance": "i", "at": 6000, "step": "f", "due": 6000}
        for won in (1, 2):
            self.explained(case(made, [fired], {"status": "completed", "state": {"l": [won]}}))
        on_one_node = dict(case(made, [fired], {"status": "completed", "state": {"l": [2]}}), timers_in_order=True)
        self.differs(on_one_node, "state")
        self.differs(case(made, [fired], {"status": "completed", "state": {"l": [1, 2]}}), "state")


class Expressions(unittest.TestCase):
    def test_values(self):
        names = {"state": {"n": 7, "s": "a", "t": True}, "index": 2}
        for text, expected in (("state.n / -2", -3), ("-7 % 3", -1), ("index + 1 == 3 && state.t", True), ('state.s + "b"', "ab"),
                               ("1 in [1, 2]", True), ("has(state.x)", False), ('state.n == "7"', False),
                               ("false && state.x", False), ("state.x || true", True), ("(state.t ? 1 : 2) * 3", 3)):
            self.assertEqual(evaluate(parse(text), names), expected, text)

    def test_errors(self):
        names = {"state": {"n": 7}}
        for text, code in (("state.x", "no_such_key"), ('state.n + "a"', "no_such_overload"), ("1 / 0", "divide_by_zero"),
                           ("true && state.x", "no_such_key"), ("9223372036854775807 + 1", "overflow"),
                           ("state.n.x", "no_such_overload")):
            with self.assertRaises(Failure, msg=text) as raised:
                evaluate(parse(text), names)
            self.assertEqual(raised.exception.code, code, text)

    def test_templates(self):
        self.assertEqual(value({"a": [expr("1 + 1")], "b": {"$literal": {"$expr": "x"}}}, {}),
                         {"a": [2], "b": {"$expr": "x"}})


if __name__ == "__main__":
    unittest.main()
