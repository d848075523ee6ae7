#!/usr/bin/env python3
"""The worker clients against a server that misbehaves: faults_test.py PROGRAM…

PROGRAM is the example of a language (clients_test.py). The server is a script, so that each fault comes at its moment:
reports that are too large, a store that is away, a heartbeat that is never answered, a stop while an answer is on its
way."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
PROGRAM = sys.argv[1:]
PATIENCE = 60  # seconds, on a busy machine


class Script:
    """A server that hands out `runs` once and keeps leases. Subclasses change what it answers."""

    def __init__(self, runs):
        self.changed = threading.Condition()
        self.runs = list(runs)
        self.leased_until = {}
        self.reports = {}  # id → what was accepted
        self.requests = []  # (path, body) of everything but questions for runs
        self.released = []
        self.closed = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as stream:
            try:
                while True:
                    line = stream.readline()
                    if not line:
                        return
                    headers = {}
                    while (header := stream.readline().strip()):
                        name, value = header.decode().split(":", 1)
                        headers[name.lower()] = value.strip()
                    length = int(headers.get("content-length", 0))
                    body = stream.read(length)
                    if len(body) < length:
                        return  # it was stopped while it asked
                    if not self.answer(line.split()[1].decode(), body, connection, stream):
                        return
            except OSError:
                pass

    def say(self, connection, status, document):
        text = json.dumps(document).encode()
        connection.sendall(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" %
                           (status, len(text), text))
        return True

    def lease(self, count):
        taken, self.runs = self.runs[:count], self.runs[count:]
        for run in taken:
            self.leased_until[run["id"]] = time.monotonic() + run["lease_ms"] / 1000
        return taken

    def question(self, body, connection, stream):
        ends = time.monotonic() + 5
        with self.changed:
            while not self.changed.wait_for(lambda: self.runs or self.closed, 0.05) and time.monotonic() < ends:
                if select.select([connection], [], [], 0)[0]:
                    return False  # nobody waits any more
            items = self.lease(body["max"])
        return self.say(connection, 200, {"items": items})

    def report(self, reports):
        """The outcome of each."""
        items = []
        for one in reports:
            late = time.monotonic() > self.leased_until[one["id"]]
            if not late:
                self.reports[one["id"]] = one
            items.append({"id": one["id"], "outcome": "lease_lost" if late else "finished"})
        return items

    def heartbeat(self, runs):
        for run in runs:
            self.leased_until[run["id"]] = time.monotonic() + int(run["lease"][:-2]) / 1000
        return [{"id": run["id"], "outcome": "kept", "lease_ms": int(run["lease"][:-2])} for run in runs]

    def answer(self, path, text, connection, stream):
        body = json.loads(text)
        if path == "/v1/runs/lease":
            return self.question(body, connection, stream)
        with self.changed:
            self.requests.append((path, body))
            self.changed.notify_all()
            if path == "/v1/runs/release":
                self.released += [run["id"] for run in body["runs"]]
                return self.say(connection, 200, {"items": [{"id": run["id"], "outcome": "released"} for run in body["runs"]]})
            if path == "/v1/runs/heartbeat":
                return self.say(connection, 200, {"items": self.heartbeat(body["runs"])})
            if path == "/v1/runs/report":
                return self.say(connection, 200, {"items": self.report(body["reports"])})
        return self.say(connection, 404, {"title": "no such route"})

    def until(self, reached):
        with self.changed:
            if not self.changed.wait_for(reached, PATIENCE):
                raise AssertionError("never: %s" % [self.reports, self.requests[-5:]])

    def end(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        self.listener.close()


class Refusing(Script):
    """Refuses reports with text that cannot be stored, and large ones."""

    def answer(self, path, text, connection, stream):
        for one in json.loads(text)["reports"] if path == "/v1/runs/report" else []:
            error = one.get("error", {})
            texts = [error.get("message", ""), error.get("code", "")]
            bad = any(not isinstance(given, str) or "\0" in given for given in texts)
            if bad or any(0xD800 <= ord(c) < 0xE000 for given in texts for c in given) or len(text) > 100_000:
                return self.say(connection, 422, {"title": "no"})
        return super().answer(path, text, connection, stream)


def run(id, type="billing.charge.v1", payload=None, key=None, lease=30_000):
    return {"id": id, "type": type, "payload": payload or {"amount": 1}, "idempotency_key": key or id, "attempt": 1,
            "max_attempts": 3, "fence": 1, "lease_ms": lease, "traceparent": ""}


class FaultsTest(unittest.TestCase):
    def work(self, script):
        worker = subprocess.Popen([*PROGRAM, script.url], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(worker.stdout.close)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.addCleanup(script.end)
        self.assertEqual(worker.stdout.readline(), "working\n")
        return worker

    def test_a_report_that_is_too_large_fails_its_run_and_no_other(self):
        class Small(Script):
            def answer(self, path, text, connection, stream):
                if len(text) > 100_000:
                    return self.say(connection, 413, {"title": "too large", "detail": "at most 100000 bytes"})
                return super().answer(path, text, connection, stream)

        # The example's result repeats the key. Ten that fit alone do not fit together.
        script = Small([run("large", key="x" * 200_000)] + [run("r%d" % i, key=str(i) * 20_000) for i in range(10)])
        self.work(script)
        script.until(lambda: len(script.reports) == 11)
        for i in range(10):
            self.assertEqual(script.reports["r%d" % i]["result"]["key"], str(i) * 20_000)
        self.assertEqual((script.reports["large"]["error"]["code"], script.reports["large"]["retry"]),
                         ("result_too_large", False))

    def test_a_report_that_cannot_be_read_fails_its_run_and_no_other(self):
        class Strict(Script):
            def answer(self, path, text, connection, stream):
                if path == "/v1/runs/report" and b"unreadable" in text:
                    return self.say(connection, 400, {"title": "no"})
                return super().answer(path, text, connection, stream)

        script = Strict([run("bad", key="unreadable")] + [run("r%d" % i) for i in range(5)])
        self.work(script)
        script.until(lambda: len(script.reports) == 6)
        self.assertEqual(script.reports["bad"]["error"]["code"], "report_refused")
        self.assertTrue(all("result" in script.reports["r%d" % i] for i in range(5)))

    def test_a_refused_failure_keeps_its_class_and_code(self):
        class Strict(Script):
            def answer(self, path, text, connection, stream):
                for one in json.loads(text)["reports"] if path == "/v1/runs/report" else []:
                    if one.get("error", {}).get("details") is not None:
                        return self.say(connection, 413, {"title": "too large"})
                return super().answer(path, text, connection, stream)

        # The example refuses to charge that much, with details.
        script = Strict([run("r1", payload={"amount": 5000}), run("r2")])
        self.work(script)
        script.until(lambda: len(script.reports) == 2)
        error = script.reports["r1"]["error"]
        self.assertEqual((error["class"], error["code"], error["message"]),
                         ("business", "limit", "more than this card may be charged"))
        self.assertIsNone(error.get("details"))
        self.assertIn("result", script.reports["r2"])

    def test_an_answer_that_is_too_large_is_asked_for_in_parts(self):
        class Large(Script):
            """Answers as many runs as it is asked for, however large they are."""

            def question(self, body, connection, stream):
                with self.changed:
                    if body["max"] == 1 or len(self.runs) < 2 or PROGRAM[-1].endswith((".py", ".mjs")):
                        return super().question(body, connection, stream)
                    items = self.runs[:body["max"]]  # not leased: the answer does not arrive
                text = b'{"items":%s,"more":"%s"}' % (json.dumps(items).encode(), b"x" * (65 << 20))
                connection.sendall(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text))
                connection.sendall(text)
                return True

        script = Large([run("r%d" % i) for i in range(3)])
        self.work(script)
        script.until(lambda: len(script.reports) == 3)
        self.assertTrue(all("result" in report for report in script.reports.values()))

    def test_results_wait_for_a_store_that_is_away(self):
        class Away(Script):
            refusals = 3

            def report(self, reports):
                if self.refusals == 0:
                    return super().report(reports)
                self.refusals -= 1
                return [{"id": one["id"], "outcome": "error", "error": "away", "retryable": True} for one in reports]

        script = Away([run("r%d" % i) for i in range(4)])
        self.work(script)
        script.until(lambda: len(script.reports) == 4)
        self.assertTrue(all("result" in report for report in script.reports.values()), script.reports)

    def test_one_lost_heartbeat_loses_no_lease(self):
        class Deaf(Script):
            heard = 0

            def answer(self, path, text, connection, stream):
                if path == "/v1/runs/heartbeat":
                    self.heard += 1
                    if self.heard == 1:
                        while stream.read(1):  # until the client gives up
                            pass
                        return False
                return super().answer(path, text, connection, stream)

        script = Deaf([run("r%d" % i, "billing.slow.x", {"seconds": 5}, lease=4_000) for i in range(3)])
        self.work(script)
        script.until(lambda: len(script.reports) == 3)
        self.assertEqual({report.get("result") for report in script.reports.values()}, {"done"})

    def test_what_was_leased_while_the_worker_stops_is_given_back(self):
        class Late(Script):
            questions = 0

            def question(self, body, connection, stream):
                with self.changed:
                    self.questions += 1
                    self.changed.notify_all()
                if stream.read(1):
                    return False
                # The client has ended its half; the answer was already sent.
                with self.changed:
                    items = self.lease(1)
                self.say(connection, 200, {"items": items})
                return False

        script = Late([run("r1")])
        worker = self.work(script)
        script.until(lambda: script.questions > 0)
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(PATIENCE), 0)
        self.assertEqual((script.released, script.reports), (["r1"], {}))

    def test_stopping_gives_everything_unbegun_back_at_once(self):
        # Quick ones first: the worker then leases ahead of its handlers.
        slow = [run("s%d" % i, "billing.slow.x", {"seconds": 1}) for i in range(60)]
        script = Script([run("q%d" % i) for i in range(200)])
        worker = self.work(script)
        script.until(lambda: len(script.reports) == 200)
        with script.changed:
            script.runs = slow
            script.changed.notify_all()
        script.until(lambda: len(script.leased_until) > 200)
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(PATIENCE), 0)
        releases = [body for path, body in script.requests if path == "/v1/runs/release"]
        self.assertLessEqual(len(releases), 6, "one request, and one for each question that was still open")
        leased = {id for id in script.leased_until if id.startswith("s")}
        self.assertEqual(set(script.released) | {id for id in script.reports if id.startswith("s")}, leased)


class PythonClientTest(unittest.TestCase):
    """What only the Python client can be given."""

    @classmethod
    def setUpClass(cls):
        if not PROGRAM[-1].endswith(".py"):
            raise unittest.SkipTest("of the Python client")
        sys.path.insert(0, os.path.join(SOURCE, "clients", "python"))
        import logging
        logging.disable(logging.CRITICAL)

    def test_whatever_a_handler_raises_is_reported(self):
        from cairn_worker import BusinessError, Worker
        script = Script([run("r%d" % i, payload={"n": i}) for i in range(5)])
        self.addCleanup(script.end)
        worker = Worker(script.url, concurrency=2)

        def fail(run):
            if run.payload["n"] == 0:
                raise BusinessError("bad", "no", {"what": object()})
            if run.payload["n"] == 1:
                raise SystemExit(3)
            if run.payload["n"] == 2:
                return {"nan": float("nan")}
            if run.payload["n"] == 3:
                return {1, 2}
            return "fine"

        worker.handle("billing.charge.v1", fail)
        worker.start()
        script.until(lambda: len(script.reports) == 5)
        worker.stop()
        self.assertEqual(script.reports["r4"]["result"], "fine")
        self.assertEqual([script.reports["r%d" % i]["error"]["code"] for i in range(4)],
                         ["TypeError", "SystemExit", "ValueError", "TypeError"])
        self.assertFalse(script.reports["r0"]["retry"])

    def test_a_failure_with_any_text_keeps_its_class_and_code(self):
        from cairn_worker import BusinessError, RetryLater, RunError, Worker

        class NoText(Exception):
            def __str__(self):
                raise ValueError("no text")

        raised = [BusinessError("no", "caf\udce9\0"), RetryLater(float("inf"), message="y" * 200_000), RunError(503, "busy"),
                  RunError("x", "m", details="y" * 200_000, error_class="timeout", delay=1), OSError("caf\udce9"), NoText()]
        script = Refusing([run("r%d" % i, payload={"n": i}) for i in range(len(raised))])
        self.addCleanup(script.end)
        worker = Worker(script.url, concurrency=2)

        def fail(run):
            raise raised[run.payload["n"]]

        worker.handle("billing.charge.v1", fail)
        worker.start()
        script.until(lambda: len(script.reports) == len(raised))
        worker.stop()
        reports = [script.reports["r%d" % i] for i in range(len(raised))]
        self.assertEqual([(one["error"]["class"], one["error"]["code"], one.get("retry"), one.get("delay")) for one in reports],
                         [("business", "no", False, None), ("transport", "retry_later", True, "315360000000ms"),
                          ("transport", "503", True, None), ("timeout", "x", True, "1000ms"),
                          ("transport", "OSError", None, None), ("transport", "NoText", None, None)])
        self.assertEqual([reports[i]["error"]["message"] for i in (0, 2, 3, 4)], ["caf\ufffd\ufffd", "busy", "m", "caf\ufffd"])
        self.assertEqual(reports[1]["error"]["message"], "y" * 200)

    def test_a_submission_is_repeated_with_its_key(self):
        from cairn_worker import Client
        submit_twice(self, lambda url: Client(url).submit("t", 1), lambda url: Client(url).submit_many([{"type": "t"}]))


def submit_twice(test, *calls):
    class Forgetful(Script):
        """Takes a run, and loses its first answer."""

        def answer(self, path, text, connection, stream):
            with self.changed:
                self.requests.append((path, json.loads(text)))
                first = sum(1 for known, _ in self.requests if known == path) == 1
            return False if first else self.say(connection, 201, {"id": "x", "items": []})

    script = Forgetful([])
    test.addCleanup(script.end)
    for call in calls:
        call(script.url)
    bodies = {}
    for path, body in script.requests:
        bodies.setdefault(path, []).append(body.get("idempotency_key") or body["runs"][0]["idempotency_key"])
    test.assertEqual(sorted(bodies), ["/v1/runs", "/v1/runs/batch"])
    for keys in bodies.values():
        test.assertEqual((len(keys), len(set(keys))), (2, 1), "the same key both times")


class TypeScriptClientTest(unittest.TestCase):
    """What only the TypeScript client can be given."""

    @classmethod
    def setUpClass(cls):
        if not PROGRAM[-1].endswith(".mjs"):
            raise unittest.SkipTest("of the TypeScript client")

    def node(self, text, *arguments):
        module = os.path.join(SOURCE, "clients", "typescript", "cairn-worker.mjs")
        return subprocess.Popen([PROGRAM[0], "--input-type=module", "-e", "import * as cairn from '%s';\n%s" % (module, text),
                                 *arguments], stderr=subprocess.DEVNULL)

    def test_whatever_a_handler_throws_is_reported(self):
        script = Script([run("r%d" % i, payload={"n": i}) for i in range(4)])
        self.addCleanup(script.end)
        worker = self.node("""
            const worker = new cairn.Worker(process.argv[1]);
            const cycle = {}; cycle.self = cycle;
            worker.handle('billing.charge.v1', ({ payload: { n } }) => {
              if (n === 0) throw new cairn.BusinessError('bad', 'no', { big: 1n });
              if (n === 1) throw new cairn.RetryLater(0, { details: cycle });
              if (n === 2) return 1n;
              return 'fine';
            });
            await worker.run();""", script.url)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        script.until(lambda: len(script.reports) == 4)
        self.assertEqual(script.reports["r3"]["result"], "fine")
        self.assertEqual({script.reports["r%d" % i]["error"]["code"] for i in range(3)}, {"TypeError"})
        self.assertFalse(script.reports["r0"]["retry"])
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(PATIENCE), 0)

    def test_a_failure_with_any_text_keeps_its_class_and_code(self):
        script = Refusing([run("r%d" % i, payload={"n": i}) for i in range(8)])
        self.addCleanup(script.end)
        worker = self.node("""
            const worker = new cairn.Worker(process.argv[1]);
            const thrown = [
              () => new cairn.BusinessError('no', 'a\\ud800\\0'),
              () => new cairn.RetryLater(Infinity, { message: 'y'.repeat(200000) }),
              () => new cairn.RunError(503, 'busy'),
              () => new cairn.RunError('x', 'm', { details: 'y'.repeat(200000), errorClass: 'timeout', delayMs: 1000 }),
              () => new Error('x'.repeat(1999) + '\\u{1F600}tail'),
              () => Object.create(null),
              () => ({ get message() { throw new Error('x'); } }),
              () => new Proxy({}, { getPrototypeOf() { throw new Error('x'); } }),
            ];
            worker.handle('billing.charge.v1', ({ payload: { n } }) => { throw thrown[n](); });
            await worker.run();""", script.url)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        script.until(lambda: len(script.reports) == 8)
        reports = [script.reports["r%d" % i] for i in range(8)]
        self.assertEqual([(one["error"]["class"], one["error"]["code"], one.get("retry"), one.get("delay")) for one in reports],
                         [("business", "no", False, None), ("transport", "retry_later", True, "315360000000ms"),
                          ("transport", "503", True, None), ("timeout", "x", True, "1000ms")] +
                         [("transport", "Error", None, None)] * 4)
        self.assertEqual([reports[i]["error"]["message"] for i in (0, 2, 3, 4)], ["a\ufffd\ufffd", "busy", "m", "x" * 1999])
        self.assertEqual(reports[1]["error"]["message"], "y" * 200)
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(PATIENCE), 0)

    def test_a_submission_is_repeated_with_its_key(self):
        def call(text):
            return lambda url: self.assertEqual(
                self.node("const client = new cairn.Client(process.argv[1]);\nawait %s;\nprocess.exit(0);" % text, url).wait(PATIENCE), 0)

        submit_twice(self, call("client.submit('t', 1)"), call("client.submitMany([{ type: 't' }])"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1, warnings="ignore")
