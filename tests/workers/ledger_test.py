#!/usr/bin/env python3
"""Workflows of five calls against a ledger, while the server and its workers are killed: every effect key is applied
once and every workflow ends with all five. Usage: ledger_test.py CAIRN [WORKFLOWS [KILLS]]"""

import json
import os
import random
import subprocess
import sys
import threading
import time
import unittest

from server import HERE, SOURCE, Server

sys.path.insert(0, os.path.dirname(HERE))
from receiver import Receiver

BINARY = os.path.abspath(sys.argv[1])
WORKFLOWS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
SEED = int(os.environ.get("CAIRN_TEST_SEED", random.randrange(1 << 32)))

DEFINITION = """
cairn: 1
name: five
version: 1.0.0
input: { type: object, required: [n] }
state: { done: [] }
steps:
%s
output: = state
"""
HTTP_STEP = """
  - id: call%d
    call:
      http: { method: POST, url: = config.ledger + "/effects", body: { workflow: = input.n, step: %d } }
      timeout: 5s
      retry: { attempts: 50, backoff: 20ms, cap: 200ms }
      result: r%d
"""
WORKER_STEP = """
  - id: call%d
    call:
      worker: { type: ledger.write.v1, payload: { workflow: = input.n, step: %d } }
      retry: { attempts: 50, backoff: 20ms, cap: 200ms }
      result: r%d
"""


class Ledger:
    """Applies an effect once for each key, however often it is asked, and forgets nothing."""

    def __init__(self):
        self.lock = threading.Lock()
        self.applied = {}
        self.asked = 0
        self.server = Receiver(self.answer)
        self.url = self.server.url

    def answer(self, path, headers, body):
        body = json.loads(body)
        key = headers["Idempotency-Key"]
        with self.lock:
            self.asked += 1
            entry = self.applied.setdefault(key, [(body["workflow"], body["step"]), 0])
            same = entry[0] == (body["workflow"], body["step"])
            entry[1] += 1
        return 200 if same else 409, json.dumps({"applied": key})


class LedgerTest(unittest.TestCase):
    def test_each_effect_key_once(self):
        print("seed", SEED)
        chance = random.Random(SEED)
        ledger = Ledger()
        steps = "".join((WORKER_STEP if i == 3 else HTTP_STEP) % (i, i, i) for i in range(1, 6))
        folder = subprocess.check_output(["mktemp", "-d"], text=True).strip()
        definition = os.path.join(folder, "five.yaml")
        with open(definition, "w") as file:
            file.write(DEFINITION % steps)
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump({"ledger": ledger.url}, file)
        server = Server(BINARY, definition, "--config", os.path.join(folder, "config.json"), "--egress", ledger.url,
                        folder=folder)

        def start_worker():
            return subprocess.Popen([sys.executable, os.path.join(HERE, "ledger_worker.py"), server.url, ledger.url],
                                    env=dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "clients", "python")),
                                    stderr=subprocess.DEVNULL)

        workers = [start_worker(), start_worker()]
        started = []
        try:
            def start(n):
                # The answer may be lost with the server: the id is made before the first try.
                id = "00000000-0000-4000-8000-%012d" % n
                while True:
                    try:
                        status, answer = server.call("POST", "/v1/instances",
                                                     {"definition": "five", "input": {"n": n}, "id": id})
                        self.assertIn(status, (200, 201, 409), answer)
                        return id
                    except OSError:
                        time.sleep(0.02)

            def starting():
                for n in range(WORKFLOWS):
                    started.append(start(n))

            caller = threading.Thread(target=starting)
            caller.start()
            for _ in range(KILLS):
                time.sleep(chance.uniform(0.2, 1.0))
                victim = chance.randrange(3)
                if victim == 2:
                    server.kill()
                    server.start()
                else:
                    workers[victim].kill()
                    workers[victim].wait()
                    workers[victim] = start_worker()
            caller.join()
            ends = time.monotonic() + 240
            for id in started:
                while True:
                    status, instance = server.call("GET", "/v1/instances/" + id)
                    self.assertEqual(status, 200, instance)
                    if instance["status"] == "completed":
                        break
                    self.assertIn(instance["status"], ("running", "waiting"), instance)
                    self.assertLess(time.monotonic(), ends, instance)
                    time.sleep(0.02)
                self.assertEqual(len({instance["output"]["r%d" % i]["applied"] for i in range(1, 6)}), 5)
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
            server.stop()
        self.assertEqual(len(started), WORKFLOWS)
        effects = sorted(entry[0] for entry in ledger.applied.values())
        self.assertEqual(effects, sorted((n, step) for n in range(WORKFLOWS) for step in range(1, 6)))
        print("%d effects, asked for %d times" % (len(effects), ledger.asked))
        verdict = subprocess.run([BINARY, "verify", "--store", "sqlite:" + os.path.join(folder, "store.db")],
                                 capture_output=True, text=True)
        self.assertEqual(verdict.returncode, 0, verdict.stdout + verdict.stderr)
        subprocess.run(["rm", "-rf", folder], check=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
