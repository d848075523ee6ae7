#!/usr/bin/env python3
"""Servers and workers that are stopped with SIGTERM at random moments, under mixed load: HTTP calls, workers in three
languages, three sinks of the outbox. A clean stop loses nothing and repeats nothing: each effect and each event arrives
exactly once, every workflow ends, and every process ends within its drain time and the 5 s of the watchdog.

Two things may be repeated, as documented. Some calls take longer than the 5 s that a stop waits for them: such a call
counts as a failed attempt (`interrupted`), and exactly one more call follows each such attempt, with the same key. The
third sink sometimes does not answer: events that a stop abandons there are sent again.

Usage: stop_test.py CAIRN CPP_WORKER NODE|- [STOPS]        (6 stops without it)

On SQLite, and on PostgreSQL when CAIRN_TEST_POSTGRES names a server; the stops are shared between them. With
CAIRN_STOP_STORES=postgres all of them are on PostgreSQL.
CAIRN_TEST_SEED repeats a run's choices."""

import collections
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from receiver import Receiver
BINARY, CPP_WORKER, NODE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
STOPS = int(sys.argv[4]) if len(sys.argv) > 4 else 6
POSTGRES = os.environ.get("CAIRN_TEST_POSTGRES")
ONLY_POSTGRES = POSTGRES and os.environ.get("CAIRN_STOP_STORES") == "postgres"
SEED = int(os.environ.get("CAIRN_TEST_SEED", random.randrange(1 << 32)))
DRAIN = {"server": 10, "worker": 30}  # seconds
MARGIN = 5  # the watchdog of the server
CALLERS = 12  # workflows at once
LONG_CALL = 7  # seconds: longer than a stop waits for calls
LONG_EVERY = 20  # every so many workflows begins with such a call
HANGS = 0.01  # how often the third sink does not answer
HANGS_FOR = 8  # seconds: its timeout

HTTP_STEP = """
  - id: call%d
    call:
      http: { method: POST, url: "%s/effects", body: { workflow: = input.n, step: %d } }
      timeout: 60s
      retry: { attempts: 5, backoff: 20ms, cap: 200ms }
"""
LONG_STEP = """
  - id: call0
    call:
      http: { method: POST, url: "%s/long", body: { workflow: = input.n, step: 0 } }
      timeout: 60s
      retry: { attempts: 5, backoff: 20ms, cap: 200ms }
"""
WORKER_STEP = """
  - id: call%d
    call:
      worker: { type: %s, payload: { workflow: = input.n, step: %d } }
      retry: { attempts: 5, backoff: 20ms, cap: 200ms }
"""
EMIT_STEP = """
  - emit: { type: stop.happened, subject: = input.subject, data: { workflow: = input.n, step: %d } }
"""


class Ledger:
    """Counts what arrives: effects by their idempotency key, events by sink and id."""

    def __init__(self, chance):
        self.lock = threading.Lock()
        self.effects = collections.Counter()  # by (workflow, step)
        self.keys = {}
        # by (workflow, step)
        self.events = {name: collections.Counter() for name in ("one", "two", "hanging")}
        self.hanging = True
        self.over = threading.Event()
        self.delays = random.Random(chance.random())
        self.server = Receiver(self.answer)
        self.url = self.server.url

    def answer(self, path, headers, body):
        body = json.loads(body)
        with self.lock:
            pause = self.delays.uniform(0, 0.05)
            if path in ("/effects", "/long"):
                place = (body["workflow"], body["step"])
                if path == "/long" and place not in self.effects:
                    pause = LONG_CALL
                self.effects[place] += 1
                self.keys.setdefault(place, set()).add(headers["Idempotency-Key"])
            elif path == "/hanging" and self.hanging and self.delays.random() < HANGS:
                pause = 10 * HANGS_FOR
            else:
                self.events[path[1:]][(body["data"]["workflow"], body["data"]["step"])] += 1
        self.over.wait(pause)  # so that stops meet calls that are being answered
        return 200, "{}"

    def end(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


class World:
    """One server on one store, its workers, and the load."""

    def __init__(self, store, folder, chance):
        self.store, self.folder, self.chance = store, folder, chance
        self.ledger = Ledger(chance)
        self.port = 0
        self.kinds = ["stop.python.v1", "stop.cpp.v1"] + (["stop.node.v1"] if NODE != "-" else [])
        self.emitted = [3, 6]
        settings = os.path.join(folder, "cairn.toml")
        with open(settings, "w") as file:
            file.write('auth = "none"\ndrain = "%ds"\ndrain_delay = "200ms"\negress = ["%s"]\n' %
                       (DRAIN["server"], self.ledger.url))
            for sink in self.ledger.events:
                file.write('[[events.sinks]]\nname = "%s"\nhttp = { url = "%s/%s", timeout = "%ds" }\n' %
                           (sink, self.ledger.url, sink, HANGS_FOR if sink == "hanging" else 30))
        self.settings = settings
        self.faults = []
        self.longest = 0.0  # seconds: of the stops
        self.interrupted = 0
        self.processes = {}
        self.start("server")
        self.deploy()
        for kind in self.kinds:
            self.start(kind)
        self.started = 0
        self.ended = set()
        self.loading = True
        self.callers = [threading.Thread(target=self.load, daemon=True) for _ in range(CALLERS)]
        self.lock = threading.Lock()
        for caller in self.callers:
            caller.start()

    def log(self, name):
        return open(os.path.join(self.folder, name + ".log"), "ab")

    def start(self, name):
        url = "http://127.0.0.1:%d" % self.port
        environment = dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "clients", "python"))
        if name == "server":
            with self.log(name) as log:
                process = subprocess.Popen(
                    [BINARY, "serve", "--store", self.store, "--config", self.settings, "--listen",
                     "127.0.0.1:%d" % self.port], cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True)
            found = re.search(r"http://[^:]+:(\d+)", process.stdout.readline())
            if not found:
                process.kill()
                process.wait()
                raise AssertionError("the server did not start; see " + os.path.join(self.folder, "server.log"))
            self.port = int(found.group(1))
        else:
            program = {"stop.python.v1": [sys.executable, os.path.join(HERE, "stop_worker.py")],
                       "stop.cpp.v1": [CPP_WORKER],
                       "stop.node.v1": [NODE, os.path.join(HERE, "stop_worker.mjs")]}[name]
            with self.log(name) as log:
                process = subprocess.Popen([*program, url, self.ledger.url, name], env=environment, cwd=self.folder,
                                           stdout=subprocess.PIPE, stderr=log, text=True)
            if process.stdout.readline() != "working\n":
                raise AssertionError("%s did not start; see %s" % (name, os.path.join(self.folder, name + ".log")))
        self.processes[name] = process

    @staticmethod
    def limit(name):
        return DRAIN.get(name, DRAIN["worker"]) + MARGIN

    def stop(self, names):
        """SIGTERM to all of them at once. They start again as soon as they have ended."""
        began = time.monotonic()
        for name in names:
            self.processes[name].send_signal(signal.SIGTERM)

        def again(name):
            process = self.processes[name]
            try:
                code = process.wait(self.limit(name))
                self.longest = max(self.longest, time.monotonic() - began)
                if code != 0:
                    self.faults.append("%s ended with %s" % (name, code))
            except subprocess.TimeoutExpired:
                self.faults.append("%s had not ended after %.0f s" % (name, time.monotonic() - began))
                process.kill()
                process.wait()
            process.stdout.close()
            self.start(name)

        threads = [threading.Thread(target=again, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def call(self, method, path, body=None, text=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            headers = {"Content-Type": "application/yaml" if text else "application/json"}
            connection.request(method, path, text or (None if body is None else json.dumps(body)), headers)
            response = connection.getresponse()
            content = response.read()
            return response.status, json.loads(content) if content else None
        finally:
            connection.close()

    def deploy(self):
        steps, number = "", 0
        for step in ["http", *self.kinds, "emit", "http", *reversed(self.kinds), "emit", "http"]:
            number += 1
            if step == "http":
                steps += HTTP_STEP % (number, self.ledger.url, number)
            elif step == "emit":
                steps += EMIT_STEP % number
            else:
                steps += WORKER_STEP % (number, step, number)
        kinds = len(self.kinds)
        self.emitted = [2 + kinds, 4 + 2 * kinds]
        self.calls = [i for i in range(1, number + 1) if i not in self.emitted]
        for name, first in (("stopped", ""), ("stopped.long", LONG_STEP % self.ledger.url)):
            definition = "cairn: 1\nname: %s\nversion: 1.0.0\ninput: { type: object }\nsteps:\n%s" % (name, first + steps)
            status, answer = self.call("POST", "/v1/definitions", text=definition)
            assert status in (200, 201), answer

    @staticmethod
    def is_long(n):
        return n % LONG_EVERY == 3

    # Starts one workflow after the other while there is room. An answer may be lost with its server: the id is chosen
    # before the first try.
    def load(self):
        while True:
            with self.lock:
                if not self.loading:
                    return
                n, self.started = self.started, self.started + 1
            id = "00000000-0000-4000-8000-%012d" % n
            begun = False
            while True:
                try:
                    if not begun:
                        status, answer = self.call("POST", "/v1/instances", {
                            "definition": "stopped.long" if self.is_long(n) else "stopped", "input": {"n": n, "subject": "s%d" % (n % 7)}, "id": id})
                        if status in (200, 201, 409):
                            begun = True
                        elif status != 503:
                            self.faults.append("start: %s %s" % (status, answer))
                            break
                    else:
                        status, answer = self.call("GET", "/v1/instances/%s?wait=5s" % id)
                        if status == 200 and answer["status"] in ("completed", "failed", "suspended", "cancelled"):
                            if answer["status"] != "completed":
                                self.faults.append("workflow %d is %s: %s" % (n, answer["status"], answer.get("error")))
                            self.ended.add(n)
                            break
                except (OSError, http.client.HTTPException):
                    time.sleep(0.02)

    def finish(self):
        """Waits for what is under way, then stops everything and says what is wrong."""
        with self.lock:
            self.loading = False
        ends = time.monotonic() + 180
        for caller in self.callers:
            caller.join(max(0.1, ends - time.monotonic()))
        if any(caller.is_alive() for caller in self.callers):
            missing = sorted(set(range(self.started)) - self.ended)
            self.faults.append("workflows that did not end: %s" % missing)
            for n in missing[:2]:
                id = "00000000-0000-4000-8000-%012d" % n
                self.faults.append(json.dumps([self.call("GET", "/v1/instances/" + id)[1],
                                               self.call("GET", "/v1/runs?instance=" + id)[1]]))
        expected = {(n, step) for n in range(self.started) for step in self.emitted}
        self.ledger.hanging = False
        while time.monotonic() < ends + 180 and any(set(got) != expected for got in self.ledger.events.values()):
            time.sleep(0.02)
        self.judge_long_calls()
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for name, process in self.processes.items():
            try:
                code = process.wait(self.limit(name))
                if code != 0:
                    self.faults.append("%s ended with %s" % (name, code))
            except subprocess.TimeoutExpired:
                self.faults.append("%s did not end" % name)
                process.kill()
                process.wait()
            process.stdout.close()
        self.judge(expected)
        self.ledger.end()

    def judge_long_calls(self):
        """Each interrupted attempt was followed by one more call, and no call was repeated without one."""
        for n in filter(self.is_long, range(self.started)):
            runs = self.call("GET", "/v1/runs?instance=00000000-0000-4000-8000-%012d" % n)[1]["items"]
            first = min(runs, key=lambda run: run["created_at"])
            events = self.call("GET", "/v1/runs/%s/events" % first["id"])[1]["items"]
            causes = [event.get("details", {}).get("code") for event in events if event["event"] == "retried"]
            made = self.ledger.effects[(n, 0)]
            self.interrupted += len(causes)
            if set(causes) - {"interrupted"} or made != 1 + len(causes):
                self.faults.append("long call of %d: made %d times, retried for %s" % (n, made, causes))

    def judge(self, events):
        effects = {(n, step) for n in range(self.started) for step in self.calls}
        effects |= {(n, 0) for n in filter(self.is_long, range(self.started))}
        lost = sorted(effects - set(self.ledger.effects))
        repeated = {place: count for place, count in self.ledger.effects.items() if count > 1 and place[1] != 0}
        keys = {place: list(keys) for place, keys in self.ledger.keys.items() if len(keys) > 1}
        for what, found in (("effects lost", lost), ("effects repeated", repeated), ("keys of one effect", keys)):
            if found:
                self.faults.append("%s: %s" % (what, str(found)[:600]))
        for sink, got in self.ledger.events.items():
            if events - set(got):
                self.faults.append("events lost by %s: %s" % (sink, str(sorted(events - set(got)))[:300]))
            twice = {place: count for place, count in got.items() if count > 1}
            if twice and sink != "hanging":
                self.faults.append("events repeated by %s: %s" % (sink, str(twice)[:300]))
        verdict = subprocess.run([BINARY, "verify", "--store", self.store], capture_output=True, text=True)
        if verdict.returncode != 0:
            self.faults.append(verdict.stdout + verdict.stderr)

    def kill(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()


class StopTest(unittest.TestCase):
    def stops_on(self, store, stops):
        print("seed", SEED, flush=True)
        chance = random.Random(SEED)
        folder = tempfile.mkdtemp(prefix="cairn_stop_")
        world = World(store or "sqlite:" + os.path.join(folder, "store.db"), folder, chance)
        try:
            done = 0
            while done < stops and not world.faults:
                time.sleep(chance.uniform(0, 0.6))
                names = chance.sample(list(world.processes), chance.choice([1, 1, 1, 2]))
                world.stop(names[:stops - done])
                done += len(names)
            world.finish()
            print("%d stops, the longest took %.1f s; %d workflows, %d effects, %d interrupted calls" %
                  (done, world.longest, world.started, len(world.ledger.effects), world.interrupted), flush=True)
            self.assertEqual(world.faults, [], "see the logs in " + folder)
        finally:
            world.kill()
        subprocess.run(["rm", "-rf", folder], check=True)

    @unittest.skipIf(ONLY_POSTGRES, "CAIRN_STOP_STORES says so")
    def test_on_sqlite(self):
        self.stops_on(None, STOPS if not POSTGRES else (STOPS + 1) // 2)

    @unittest.skipUnless(POSTGRES, "CAIRN_TEST_POSTGRES names no server")
    def test_on_postgres(self):
        joined = "&" if "?" in POSTGRES else "?"
        self.stops_on("%s%sschema=stop_%d" % (POSTGRES, joined, os.getpid()), STOPS if ONLY_POSTGRES else STOPS // 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
