#!/usr/bin/env python3
"""The lease rules over HTTP, with real processes that stop and die. Usage: lease_test.py CAIRN [ROUNDS]"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

from server import HERE, Server

BINARY = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5


def worker_process(server, *arguments):
    return subprocess.Popen([sys.executable, os.path.join(HERE, "raw_worker.py"), str(server.port), *arguments],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


class LeaseTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(BINARY)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def test_routes(self):
        server = self.server
        id = server.submit("default.routes", {"n": 1}, priority=3, max_attempts=2)
        leased = server.lease("w", max=5)
        self.assertEqual([run["id"] for run in leased], [id])
        fence = leased[0]["fence"]
        status, lost = server.call("POST", "/v1/runs/%s/complete" % id, {"fence": 99, "result": 1})
        self.assertEqual((status, lost["type"]), (409, "/problems/lease_lost"))
        status, beat = server.call("POST", "/v1/runs/%s/heartbeat" % id, {"fence": fence, "lease": "60s"})
        self.assertEqual((status, beat["cancelled"], beat["lease_ms"] > 50_000), (200, False, True))
        status, told = server.call("POST", "/v1/runs/%s/fail" % id,
                                   {"fence": fence, "error": {"code": "busy", "message": "not now"}, "delay": "0ms"})
        self.assertEqual((status, told["outcome"]), (200, "will_retry"))
        again = server.lease("w", wait="10s")[0]
        self.assertEqual((again["fence"] > fence, again["attempt"], again["last_error"]), (True, 2, "busy: not now"))
        status, released = server.call("POST", "/v1/runs/%s/release" % id, {"fence": again["fence"]})
        self.assertEqual((status, released["status"], released["attempt"]), (200, "pending", 1))
        again = server.lease("w", wait="10s")[0]
        status, told = server.call("POST", "/v1/runs/%s/complete" % id, {"fence": again["fence"], "result": {"ok": 1}})
        self.assertEqual((status, told["outcome"]), (200, "finished"))
        run = server.run(id)
        self.assertEqual((run["status"], run["result"]), ("succeeded", {"ok": 1}))
        self.assertEqual(server.events(id),
                         ["created", "leased", "retried", "leased", "released", "leased", "succeeded"])
        self.assertEqual(server.call("DELETE", "/v1/runs/" + id)[0], 400)
        self.assertEqual(server.call("DELETE", "/v1/runs/%s?reason=tidy" % id)[0], 200)
        self.assertEqual(server.run(id)["delete_reason"], "tidy")
        listed = server.call("GET", "/v1/runs?type=default.routes")[1]["items"]
        self.assertEqual(listed, [])
        self.assertEqual(server.call("GET", "/v1/runs/00000000-0000-0000-0000-000000000000")[0], 404)

    def test_a_failure_that_is_not_retryable_ends_the_run(self):
        id = self.server.submit("default.final")
        fence = self.server.lease("w", types=["default.final"])[0]["fence"]
        self.server.call("POST", "/v1/runs/%s/fail" % id,
                         {"fence": fence, "error": {"code": "no_handler_registered"}, "retry": False})
        run = self.server.run(id)
        self.assertEqual((run["status"], run["last_error"], run["attempt"]), ("failed", "no_handler_registered", 1))

    def test_a_long_poll_is_answered_when_a_run_comes(self):
        taken = []
        waiter = threading.Thread(target=lambda: taken.extend(self.server.lease("w", types=["poll.x"], wait="30s")))
        waiter.start()
        id = self.server.submit("poll.x")
        waiter.join(20)
        self.assertEqual([run["id"] for run in taken], [id])

    def test_an_empty_poll_ends_with_its_time(self):
        self.assertEqual(self.server.lease("w", types=["poll.never"], wait="50ms"), [])

    def test_what_could_not_be_delivered_is_for_others_at_once(self):
        """The answer is larger than the socket takes; the worker dies without having read it. Its leases would last an hour."""
        server = self.server
        ids = {server.submit("undelivered.x", "x" * 900_000) for _ in range(8)}
        body = json.dumps({"worker": "dead", "types": ["undelivered.x"], "max": 8, "lease": "1h"})
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.settimeout(60)
            connection.connect(("127.0.0.1", server.port))
            connection.sendall(("POST /v1/runs/lease HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                "Content-Length: %d\r\n\r\n%s" % (len(body), body)).encode())
            self.assertEqual(connection.recv(12, socket.MSG_PEEK | socket.MSG_WAITALL), b"HTTP/1.1 200")  # the runs are leased
        taken, ends = set(), time.monotonic() + 60
        while taken != ids and time.monotonic() < ends:
            taken |= {run["id"] for run in server.lease("second", types=["undelivered.x"], max=8, wait="1s")}
        self.assertEqual(taken, ids)
        for id in ids:
            self.assertEqual(server.run(id)["attempt"], 1, "an answer that did not arrive is no attempt")

    def test_many_wait_without_a_thread_each(self):
        # More than the server has threads for requests: a request that came meanwhile is answered at once.
        taken, waiters = [], []
        for i in range(100):
            waiters.append(threading.Thread(
                target=lambda i=i: taken.extend(self.server.lease("w%d" % i, types=["crowd.x"], wait="40s"))))
            waiters[-1].start()
        ids = {self.server.submit("crowd.x", i) for i in range(100)}
        for waiter in waiters:
            waiter.join(40)
        self.assertEqual({run["id"] for run in taken}, ids)

    def test_twenty_callers_with_one_key_make_one_run(self):
        answers = []
        barrier = threading.Barrier(20)

        def submit():
            barrier.wait()
            answers.append(self.server.call("POST", "/v1/runs", {"type": "default.once", "payload": {"a": 1}},
                                            {"Idempotency-Key": "the-one"}))

        callers = [threading.Thread(target=submit) for _ in range(20)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        self.assertEqual(len({answer["id"] for _, answer in answers}), 1)
        self.assertTrue(all(status in (200, 201) for status, _ in answers), answers)
        status, problem = self.server.call("POST", "/v1/runs", {"type": "default.once", "payload": {"a": 2}},
                                           {"Idempotency-Key": "the-one"})
        self.assertEqual((status, problem["type"]), (422, "/problems/idempotency_key_reused"))

    def test_a_batch_is_one_transaction(self):
        runs = [{"type": "batch.x", "payload": i, "idempotency_key": "b%d" % (i % 3)} for i in range(6)]
        status, answer = self.server.call("POST", "/v1/runs/batch", {"runs": runs[:3] + runs[:3]})
        self.assertEqual(status, 200, answer)
        self.assertEqual([item["created"] for item in answer["items"]], [True] * 3 + [False] * 3)
        status, answer = self.server.call("POST", "/v1/runs/batch", {"runs": [{"type": "batch.y"}, {"payload": 1}]})
        self.assertEqual(status, 422)
        self.assertEqual(self.server.call("GET", "/v1/runs?type=batch.y")[1]["items"], [])

    def test_types_can_be_paused_and_limited(self):
        server = self.server
        self.assertEqual(server.call("PUT", "/v1/run-types/limited.x", {"paused": True})[0], 200)
        for i in range(4):
            server.submit("limited.x", {"customer": "a" if i < 3 else "b"})
        self.assertEqual(server.lease("w", types=["limited.x"]), [])
        status, problem = server.call("PUT", "/v1/run-types/limited.x", {"limit_key": "payload."})
        self.assertEqual(status, 422, problem)
        self.assertEqual(server.call("PUT", "/v1/run-types/limited.x", {"concurrency": 3, "lease": "7s"})[0], 200)
        leased = server.lease("w", types=["limited.x"], max=10)
        self.assertEqual(len(leased), 3)
        self.assertTrue(6000 < leased[0]["lease_ms"] <= 7000)
        server.call("POST", "/v1/runs/%s/complete" % leased[0]["id"], {"fence": leased[0]["fence"]})
        self.assertEqual(len(server.lease("w", types=["limited.x"], max=10)), 1)
        self.assertEqual(server.call("GET", "/v1/run-types/limited.x")[1]["concurrency"], 3)
        self.assertEqual(server.call("DELETE", "/v1/run-types/limited.x")[0], 204)
        self.assertEqual(server.call("GET", "/v1/run-types/limited.x")[0], 404)

    def test_a_key_expression_divides_the_limit(self):
        server = self.server
        server.call("PUT", "/v1/run-types/keyed.x", {"concurrency": 1, "limit_key": "payload.customer"})
        for customer in ("a", "a", "a", "b"):
            server.submit("keyed.x", {"customer": customer})
        leased = server.lease("w", types=["keyed.x"], max=10)
        self.assertEqual(sorted(run["payload"]["customer"] for run in leased), ["a", "b"])
        self.assertEqual(sorted(run["limit_key"] for run in leased), ["a", "b"])

    def test_a_worker_that_was_stopped_writes_nothing(self):
        """SIGSTOP past the lease, another finishes, SIGCONT: no write of the old lease is accepted."""
        for round in range(ROUNDS):
            type = "stopped.r%d" % round
            id = self.server.submit(type, max_attempts=5)
            child = worker_process(self.server, "stop", type)
            _, state = os.waitpid(child.pid, os.WUNTRACED)
            self.assertTrue(os.WIFSTOPPED(state))
            taken = self.server.lease("second", types=[type], wait="20s")
            self.assertEqual([run["id"] for run in taken], [id], "round %d" % round)
            self.assertEqual(taken[0]["attempt"], 2)
            # Half of the rounds continue it while the second one still works, half after it has finished.
            if round % 2:
                child.send_signal(signal.SIGCONT)
                statuses = json.loads(child.stdout.readline())
            status, _ = self.server.call("POST", "/v1/runs/%s/complete" % id, {"fence": taken[0]["fence"], "result": "second"})
            self.assertEqual(status, 200)
            if not round % 2:
                child.send_signal(signal.SIGCONT)
                statuses = json.loads(child.stdout.readline())
            child.communicate()
            self.assertEqual(statuses, {"heartbeat": 409, "fail": 409, "release": 409, "complete": 409})
            run = self.server.run(id)
            self.assertEqual((run["status"], run["result"], run["leases"]), ("succeeded", "second", 2))

    def test_work_that_kills_its_worker_is_given_up(self):
        poison = self.server.submit("poison.die", max_attempts=3, priority=9)
        neighbours = [self.server.submit("poison.fine", i) for i in range(10)]
        deaths = 0
        while True:
            child = worker_process(self.server, "work", "poison.")
            child.stdin.close()
            code = child.wait()
            child.stdout.close()
            if code == 0:
                break
            self.assertEqual(code, -signal.SIGKILL)
            deaths += 1
            self.assertLessEqual(deaths, 3)
        run = self.server.until(poison, "failed")
        self.assertEqual((deaths, run["leases"]), (3, 3))
        self.assertIn("lease_expired", run["last_error"])
        for id in neighbours:
            self.assertEqual(self.server.run(id)["status"], "succeeded")
        status, letters = self.server.call("GET", "/v1/dead-letters")
        if status == 200:
            self.assertIn(poison, json.dumps(letters))

    def test_a_cancelled_run_is_told_at_the_heartbeat(self):
        id = self.server.submit("cancel.x")
        fence = self.server.lease("w", types=["cancel.x"])[0]["fence"]
        self.assertEqual(self.server.call("POST", "/v1/runs/%s/cancel" % id)[0], 200)
        status, beat = self.server.call("POST", "/v1/runs/%s/heartbeat" % id, {"fence": fence})
        self.assertEqual((status, beat["cancelled"]), (200, True))
        status, _ = self.server.call("POST", "/v1/runs/%s/complete" % id, {"fence": fence, "result": 1})
        self.assertEqual(status, 409)
        run = self.server.run(id)
        self.assertEqual(run["status"], "cancelled")
        self.assertNotIn("leased_by", run)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
