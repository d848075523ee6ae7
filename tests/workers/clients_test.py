#!/usr/bin/env python3
"""The worker clients against a real server: clients_test.py CAIRN PROGRAM…

Each language brings the same example, with handlers for billing.charge.v1 and for everything below billing.slow."""

import hashlib
import os
import signal
import subprocess
import sys
import time
import unittest

from server import Server

BINARY = os.path.abspath(sys.argv[1])
PROGRAM = sys.argv[2:]


def trace_of(whole, run, attempt):
    """W3C trace context of one attempt, by the rule in docs/workers.md."""
    digits = lambda text: hashlib.sha256(text.encode()).hexdigest()
    return "00-%s-%s-01" % (digits(whole)[:32], digits("%s#%d" % (run, attempt))[:16])


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.server = Server(BINARY)
        self.worker = subprocess.Popen([*PROGRAM, self.server.url], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True)
        self.assertEqual(self.worker.stdout.readline(), "working\n")

    def tearDown(self):
        if self.worker.poll() is None:
            self.worker.kill()
        self.worker.wait()
        self.worker.stdout.close()
        self.server.stop()

    def until_at_work(self, id):
        """Its first heartbeat tells that the worker has it: the lease alone may still be on its way."""
        first = self.server.until(id, "leased")["lease_until"]
        while self.server.run(id).get("lease_until") == first:
            time.sleep(0.01)

    def end_worker(self):
        self.worker.send_signal(signal.SIGTERM)
        self.assertEqual(self.worker.wait(20), 0)

    def test_results_failures_and_retries(self):
        server = self.server
        good = server.submit("billing.charge.v1", {"amount": 12}, idempotency_key="order-7")
        refused = server.submit("billing.charge.v1", {"amount": 5000})
        later = server.submit("billing.charge.v1", {"amount": -5})
        broken = server.submit("billing.charge.v1", {}, max_attempts=2, retry={"backoff": "1ms", "cap": "1ms"})
        run = server.until(good, "succeeded")
        self.assertEqual(run["result"], {"charged": 12, "key": "order-7", "attempt": 1, "trace": trace_of(good, good, 1)})
        run = server.until(refused, "failed")
        self.assertEqual((run["attempt"], run["error"]["class"], run["error"]["code"], run["error"]["details"]),
                         (1, "business", "limit", {"limit": 1000}))
        run = server.until(later, "succeeded")
        self.assertEqual((run["result"]["attempt"], run["attempt"]), (2, 2))
        run = server.until(broken, "failed")
        self.assertEqual(run["attempt"], 2)
        # A type without a handler here is left to others.
        other = server.submit("billing.refund.v1", {})
        self.assertEqual(server.lease("somebody", types=["billing.refund.v1"], wait="10s")[0]["id"], other)
        self.end_worker()

    def test_an_instance_is_one_trace(self):
        definition = {"cairn": 1, "name": "traced", "version": "1.0.0", "steps": [
            {"call": {"worker": {"type": "billing.charge.v1", "payload": {"amount": 1}}, "result": "first"}},
            {"call": {"worker": {"type": "billing.charge.v1", "payload": {"amount": -1}}, "result": "second"}},
            {"emit": {"type": "traced.done", "subject": "s", "data": {}}}],
            "output": ["= state.first.trace", "= state.second.trace"]}
        status, answer = self.server.call("POST", "/v1/definitions", definition)
        self.assertIn(status, (200, 201), answer)
        status, ended = self.server.call("POST", "/v1/instances?wait=30s", {"definition": "traced", "input": {}})
        instance = ended["id"]
        runs = {run["step"]: run for run in self.server.call("GET", "/v1/runs?instance=" + instance)[1]["items"]}
        self.assertEqual(sorted(ended["output"]),
                         sorted(trace_of(instance, run["id"], run["attempt"]) for run in runs.values()))
        event = self.server.call("GET", "/v1/outbox?instance=" + instance)[1]["items"][0]
        self.assertEqual(event["traceparent"].split("-")[1], ended["output"][0].split("-")[1])
        self.end_worker()

    def test_many_at_once(self):
        runs = [{"type": "billing.charge.v1", "payload": {"amount": i}} for i in range(200)]
        status, answer = self.server.call("POST", "/v1/runs/batch", {"runs": runs})
        self.assertEqual(status, 200, answer)
        for item in answer["items"]:
            self.assertEqual(self.server.until(item["id"], "succeeded")["attempt"], 1)
        self.end_worker()

    def test_a_lease_is_kept_while_a_handler_works(self):
        server = self.server
        # Long enough for a heartbeat on a busy disk, and less than half of what the handler takes.
        server.call("PUT", "/v1/run-types/billing.slow.x", {"lease": "1500ms"})
        id = server.submit("billing.slow.x", {"seconds": 4})
        server.until(id, "leased")
        # Another worker would take it as soon as its lease ended.
        self.assertEqual(server.lease("thief", types=["billing.slow.x"], wait="3500ms") and "stolen" or "kept", "kept")
        run = server.until(id, "succeeded")
        self.assertEqual((run["result"], run["leases"]), ("done", 1), server.call("GET", "/v1/runs/%s/events" % id)[1])

    def test_a_cancelled_run_ends_its_handler(self):
        server = self.server
        server.call("PUT", "/v1/run-types/billing.slow.y", {"lease": "400ms"})
        id = server.submit("billing.slow.y", {"seconds": 600})
        self.until_at_work(id)
        self.assertEqual(server.call("POST", "/v1/runs/%s/cancel" % id)[0], 200)
        # The handler sleeps for ten minutes unless it hears of it; the worker waits for its handlers.
        self.end_worker()
        self.assertEqual(server.run(id)["status"], "cancelled")

    def test_stopping_finishes_what_is_under_way(self):
        self.server.call("PUT", "/v1/run-types/billing.slow.z", {"lease": "600ms"})
        id = self.server.submit("billing.slow.z", {"seconds": 1})
        self.until_at_work(id)
        self.end_worker()
        run = self.server.run(id)
        self.assertEqual((run["status"], run["leases"]), ("succeeded", 1))

    def test_the_server_may_be_away_for_a_moment(self):
        self.server.call("PUT", "/v1/run-types/billing.slow.w", {"lease": "5s"})
        id = self.server.submit("billing.slow.w", {"seconds": 3})
        self.until_at_work(id)
        self.server.kill()
        self.server.start()
        run = self.server.until(id, "succeeded")
        self.assertEqual((run["result"], run["leases"]), ("done", 1))
        self.end_worker()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
