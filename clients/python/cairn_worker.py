"""Workers for cairn in Python: one file, standard library only, Python 3.8 or newer.

    from cairn_worker import Worker, BusinessError

    worker = Worker("http://127.0.0.1:8400", concurrency=8)

    @worker.handler("billing.charge.v1")
    def charge(run):
        # Every attempt has the same key, so the receiver can recognize a repeat.
        return bank.charge(run.payload["amount"], key=run.idempotency_key)

    worker.run()          # until SIGINT or SIGTERM, then finishes the running handlers

A handler gets a `Run` and returns the result, any value that JSON can hold. To fail, it raises an exception:
`BusinessError` for a decision that a retry cannot change, `RetryLater` with a delay, or any other exception, which is
retried while attempts are left. The worker keeps the lease alive while a handler runs. If the run is cancelled or its
lease is lost, `run.cancelled` becomes true and `run.check()` raises `Cancelled`.

`Client` submits runs: `Client(url).submit("billing.charge.v1", {"amount": 12}, idempotency_key="order-7")`.
Without a key it creates one, so that a request repeated after a lost answer creates only one run.
"""

import http.client
import json
import logging
import os
import queue
import random
import re
import secrets
import signal
import socket
import ssl
import threading
import time
import urllib.parse
import uuid

__all__ = [
    "BusinessError", "Cancelled", "Client", "ConnectionFailed", "LeaseLost", "Problem", "RetryLater", "Run",
    "RunError", "Worker",
]

log = logging.getLogger("cairn.worker")

# The worker leases as many runs ahead as its handlers finish in this time (seconds). A poll takes part of this time.
# Runs that wait here longer could have been leased by another worker.
AHEAD = 0.05
AHEAD_MAX = 256
# Polls that wait at the server at the same time while handlers are fast. A run written while a poll waits starts out
# leased and needs no extra commit. With a single poll, no poll would wait while its answer is in transit.
QUESTIONS_MAX = 6
# Concurrent requests with reports. A finished run need not wait until the server has synced the previous reports.
REPORTERS = 2
# Limits of one request with reports: this many reports, and this many bytes unless a single report is larger.
REPORTS_MAX = 256
REPORT_BYTES_MAX = 1 << 20
# A heartbeat without an answer after a sixth of the lease is sent again on another connection. A second thread sends
# the heartbeats that fall due while the first one waits.
HEARTBEATERS = 2
HEARTBEATS_MAX = 1000
HEARTBEAT_TIMEOUT_MIN = 0.5
# The server answers a cancelled poll at once, unless it is unreachable (seconds).
POLL_END_MAX = 5.0
# If the connection breaks this often for a large report, while heartbeats succeed, the server does not accept it.
BROKEN_MAX = 5
# The server refuses these requests permanently. Others may succeed later: 401 and 403 after a change of keys, 429 and
# 5xx after the server has recovered.
REFUSED = (400, 413, 422)
# The parts of a failure that are reported again if the server refuses the whole. Lengths are in code points.
CLASSES = ("transport", "timeout", "authorization", "consistency", "business")
CODE_MAX = 200
MESSAGE_MAX = 2000
SHORT_MESSAGE_MAX = 200
DELAY_MAX = 3650 * 86400.0  # seconds


class RunError(Exception):
    """A failed attempt, with its details."""

    def __init__(self, code, message="", details=None, retry=True, delay=None, error_class="transport"):
        super().__init__(message or code)
        self.code = code
        self.message = message
        self.details = details
        self.retry = retry
        self.delay = delay  # seconds until the next attempt, instead of the policy's
        self.error_class = error_class


class BusinessError(RunError):
    """A business decision: the run fails and is not retried."""

    def __init__(self, code, message="", details=None):
        super().__init__(code, message, details, retry=False, error_class="business")


class RetryLater(RunError):
    """The run is retried after `delay` seconds."""

    def __init__(self, delay, code="retry_later", message="", details=None):
        super().__init__(code, message, details, retry=True, delay=delay)


class Cancelled(Exception):
    """The run was cancelled or its lease is lost: the result will not be used."""


class Problem(Exception):
    """An error response of the server (RFC 9457)."""

    def __init__(self, status, document):
        super().__init__("%s %s: %s" % (status, document.get("title", ""), document.get("detail", "")))
        self.status = status
        self.type = document.get("type", "").rsplit("/", 1)[-1]
        self.document = document


class LeaseLost(Problem):
    """Another worker has the run now."""


class ConnectionFailed(Exception):
    """The server could not be reached."""


class Client:
    """Calls to one server. Safe to use from several threads; each thread has its own connection."""

    def __init__(self, url, token=None, timeout=30.0):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the server URL must begin with http:// or https://, not %r" % url)
        self._parts = parts
        self._token = token or os.environ.get("CAIRN_TOKEN")
        self._timeout = timeout
        self._local = threading.local()

    def connect(self, timeout):
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(
                self._parts.hostname, self._parts.port, timeout=timeout, context=ssl.create_default_context())
        return http.client.HTTPConnection(self._parts.hostname, self._parts.port, timeout=timeout)

    def call(self, method, path, body=None, headers=None, timeout=None, connection=None, sent_hook=None,
             repeatable=None):
        """Returns the decoded answer. Raises Problem, LeaseLost or ConnectionFailed.

        `body` is a value that JSON can hold, or bytes with JSON text. A request whose answer was lost is sent again
        only if it is `repeatable`, which is the default for every method except POST."""
        if repeatable is None:
            repeatable = method != "POST"
        kept = connection is None
        if kept:
            connection = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._local.connection = self.connect(timeout or self._timeout)
        sent = {"Accept": "application/json"}
        if body is not None:
            sent["Content-Type"] = "application/json"
        if self._token:
            sent["Authorization"] = "Bearer " + self._token
        sent.update(headers or {})
        data = body if body is None or isinstance(body, bytes) else json.dumps(body, allow_nan=False).encode()
        # The server may have closed an idle connection. One retry on a new connection tells this from an outage.
        for attempt in (1, 2):
            try:
                if connection.sock is not None:
                    connection.sock.settimeout(timeout or self._timeout)
                else:
                    connection.timeout = timeout or self._timeout
                connection.request(method, self._parts.path.rstrip("/") + path, data, sent)
                if sent_hook is not None:
                    sent_hook()
                response = connection.getresponse()
                text = response.read()
                break
            except (OSError, http.client.HTTPException) as failure:
                connection.close()
                closed = isinstance(failure, (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError))
                if attempt == 2 or not kept or not closed or not repeatable:
                    raise ConnectionFailed("%s: %s" % (self._parts.netloc, failure)) from failure
        try:
            document = json.loads(text) if text else None
        except ValueError:
            document = {"detail": text.decode("utf-8", "replace")[:200]}
        if response.status >= 400:
            problem = document if isinstance(document, dict) else {}
            kind = LeaseLost if problem.get("type", "").endswith("/lease_lost") else Problem
            raise kind(response.status, problem)
        return document

    def submit(self, type, payload=None, **options):
        """Submits one run. Options: idempotency_key, priority, run_at, delay, max_attempts, retry, timeout, id.

        Without an `idempotency_key` the call creates one, so that it can be repeated after a lost answer."""
        return self.call("POST", "/v1/runs", _keyed(dict(options, type=type, payload=payload)), repeatable=True)

    def submit_many(self, runs):
        """Submits many runs in one transaction; each is a dict as for `submit`, with its type."""
        return self.call("POST", "/v1/runs/batch", {"runs": [_keyed(run) for run in runs]}, repeatable=True)["items"]

    def get(self, run_id):
        return self.call("GET", "/v1/runs/" + urllib.parse.quote(run_id, safe=""))

    def cancel(self, run_id):
        return self.call("POST", "/v1/runs/%s/cancel" % urllib.parse.quote(run_id, safe=""), repeatable=True)


def _keyed(run):
    return run if run.get("idempotency_key") else dict(run, idempotency_key=str(uuid.uuid4()))


class Run:
    """One attempt of a run, as a handler receives it."""

    def __init__(self, document):
        self.id = document["id"]
        self.type = document["type"]
        self.payload = document.get("payload")
        self.idempotency_key = document.get("idempotency_key") or document["id"]
        self.attempt = document["attempt"]
        self.max_attempts = document["max_attempts"]
        self.instance = document.get("instance")
        self.traceparent = document.get("traceparent")  # W3C trace context, to pass on
        self.fence = document["fence"]
        self.lease = document["lease_ms"] / 1000.0
        self.extend(self.lease)
        self._cancelled = threading.Event()

    def extend(self, seconds):
        """Extends the lease from now on; a heartbeat is due after a third of it."""
        self.lease_ends = time.monotonic() + seconds
        self.beat_at = time.monotonic() + seconds / 3

    def abandon(self):
        """Marks the run as cancelled: the result will not be used."""
        self.beat_at = float("inf")
        self._cancelled.set()

    @property
    def cancelled(self):
        return self._cancelled.is_set()

    def check(self):
        """Raises Cancelled if the result will not be used."""
        if self.cancelled:
            raise Cancelled(self.id)

    def wait(self, seconds):
        """Sleeps until the time is over or the run is cancelled; returns True if it was cancelled."""
        return self._cancelled.wait(seconds)


def _prefixes_of_environment():
    """The prefixes of the environment, or None. A value may be written as in SQL: `billing.%`."""
    for name in ("CAIRN_WORKER_TYPE_PREFIXES", "WORKER_TYPE_PREFIXES"):
        prefixes = [part.strip().rstrip("%") for part in os.environ.get(name, "").split(",")]
        prefixes = [prefix for prefix in prefixes if prefix]
        if prefixes:
            return prefixes
    return None


class Worker:
    """Leases runs of the types it has handlers for and runs up to `concurrency` handlers at once.

    `prefixes`, or the environment variable CAIRN_WORKER_TYPE_PREFIXES or WORKER_TYPE_PREFIXES (`billing.,media.`),
    chooses the types by prefix instead."""

    def __init__(self, url, concurrency=8, name=None, lease=30.0, token=None, prefixes=None, poll=20.0):
        self._client = Client(url, token)
        # The name has a random part, so that a restarted worker does not own the leases of its predecessor.
        self.name = "%s-%s" % (name or socket.gethostname(), secrets.token_hex(4))
        self._concurrency = concurrency
        self._lease = lease
        self._poll_seconds = poll
        self._prefixes = prefixes if prefixes is not None else _prefixes_of_environment()
        self._handlers = {}
        # Each kind of thread has its own condition. One shared condition would wake all threads after every handler.
        self._lock = threading.Lock()
        self._room_changed = threading.Condition(self._lock)
        self._beat_sooner = threading.Condition(self._lock)
        self._active_changed = threading.Condition(self._lock)
        self._active = {}
        self._unbegun = []  # to be released
        self._undone = 0  # active runs without a finished handler
        self._questions = 0  # polls that wait at the server
        self._wanted_runs = 0  # runs requested by all polls
        self._handled = None  # moving average of the handlers' duration, in seconds
        self._stopping = False
        self._halted = threading.Event()
        self._reports = queue.Queue()
        self._polls = set()  # connections of polls
        self._threads = []

    def handler(self, type):
        """Decorator: handles runs of this type. A type that ends with a dot is a prefix; `*` handles every type."""

        def register(function):
            self.handle(type, function)
            return function

        return register

    def handle(self, type, function):
        self._handlers[type] = function

    # What to lease: the exact types of the handlers, and prefixes for handlers that end with a dot. Other types are
    # left to other workers. With explicit prefixes, a run without a handler fails as no_handler_registered. A worker
    # whose only handler is `*` names no types: without prefixes it leases `default.`.
    def _wanted(self):
        if self._prefixes is not None:
            return {"prefixes": list(self._prefixes)}
        types = [type for type in self._handlers if type != "*" and not type.endswith(".")]
        prefixes = [type for type in self._handlers if type.endswith(".")]
        wanted = {}
        if types:
            wanted["types"] = types
        if prefixes:
            wanted["prefixes"] = prefixes
        return wanted or {"prefixes": ["default."]}

    def _find_handler(self, type):
        if type in self._handlers:
            return self._handlers[type]
        fitting = [prefix for prefix in self._handlers if prefix.endswith(".") and type.startswith(prefix)]
        return self._handlers[max(fitting, key=len)] if fitting else self._handlers.get("*")

    def start(self):
        """Starts the worker's threads and returns."""
        if not self._handlers and self._prefixes is None:
            raise ValueError("a worker needs at least one handler")
        self._work = queue.Queue()
        targets = [self._lease_loop] * QUESTIONS_MAX + [self._heartbeat_loop] * HEARTBEATERS
        targets += [self._report_loop] * REPORTERS + [self._work_loop] * self._concurrency
        for target in targets:
            thread = threading.Thread(target=self._survive, args=(target,), daemon=True)
            thread.start()
            self._threads.append(thread)
        self._leasing = self._threads[:QUESTIONS_MAX]

    # A loop ends only when the worker stops; an unexpected exception restarts it.
    def _survive(self, loop):
        while True:
            try:
                return loop()
            except Exception:
                log.exception("a thread of the worker failed and continues")
                self._halted.wait(1.0)

    def run(self):
        """Works until SIGINT or SIGTERM, then finishes the running handlers."""
        asked = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: asked.set())
        self.start()
        while not asked.wait(3600):
            pass
        self.stop()

    def stop(self, grace=30.0):
        """Leases nothing new, waits up to `grace` seconds for handlers and releases runs that have not started."""
        ends = time.monotonic() + grace
        with self._lock:
            self._stopping = True
            self._room_changed.notify_all()
            polls = list(self._polls)
        for connection in polls:
            _close_sending(connection)
        self._take_unbegun()
        # Each poll ends with the answer in transit, or without one.
        answered_by = min(ends, time.monotonic() + POLL_END_MAX)
        for thread in self._leasing:
            thread.join(max(0.1, answered_by - time.monotonic()))
        self._take_unbegun()
        for _ in range(self._concurrency):
            self._work.put(None)
        while True:
            with self._lock:
                while self._active and not self._unbegun and time.monotonic() < ends:
                    self._active_changed.wait(ends - time.monotonic())
                unbegun, self._unbegun = self._unbegun, []
            if not unbegun:
                break
            self._release(unbegun)
        self._halted.set()
        with self._lock:
            self._beat_sooner.notify_all()
        self._reports.put(None)  # each reporter passes it to the next
        for thread in self._threads:
            thread.join(max(0.1, ends - time.monotonic()))

    def _take_unbegun(self):
        while True:
            try:
                run = self._work.get_nowait()
            except queue.Empty:
                return
            with self._lock:
                self._unbegun.append(run)

    def _release(self, runs):
        if not runs:
            return
        try:
            items = self._client.call("POST", "/v1/runs/release", {
                "worker": self.name, "runs": [{"id": run.id, "fence": run.fence} for run in runs]}, repeatable=True)["items"]
            for item in items:
                if item["outcome"] == "error":
                    log.warning("run %s could not be released: %s", item["id"], item.get("error"))
        except (Problem, ConnectionFailed) as failure:
            log.warning("%d runs could not be released: %s", len(runs), failure)
        for run in runs:
            self._forget(run)

    def _forget(self, run):
        with self._lock:
            if self._active.get(run.id) is run:
                del self._active[run.id]
            if not self._active:
                self._active_changed.notify_all()

    # How many runs to hold at once: one per handler, and more if handlers are fast.
    def _capacity(self):
        if self._handled is None:
            return self._concurrency
        return self._concurrency + int(min(self._concurrency * AHEAD / max(self._handled, 1e-6), AHEAD_MAX))

    # How many runs one more poll may request; zero while enough are requested. Runs that only wait for their report do
    # not count.
    def _room(self):
        capacity = self._capacity()
        most = QUESTIONS_MAX if capacity > self._concurrency else 1
        free = capacity - self._undone - self._wanted_runs
        if self._questions >= most or free <= 0:
            return 0
        return -(-free // (most - self._questions))  # its share, rounded up

    def _lease_loop(self):
        pause = 0.1
        connection = None
        while True:
            with self._lock:
                while self._room() == 0 and not self._stopping:
                    self._room_changed.wait()
                if self._stopping:
                    return
                room = self._room()
                self._questions += 1
                self._wanted_runs += room
                if self._room() > 0:
                    self._room_changed.notify()
                if connection is None:
                    connection = self._client.connect(self._poll_seconds + 15)
                    self._polls.add(connection)
            asked = {"worker": self.name, "max": min(room, 1000), "wait": "%dms" % (self._poll_seconds * 1000),
                     "lease": "%dms" % (self._lease * 1000)}
            asked.update(self._wanted())
            runs, failure = [], None
            try:
                items = self._client.call("POST", "/v1/runs/lease", asked, timeout=self._poll_seconds + 15,
                                          connection=connection, sent_hook=lambda: self._sent(connection))["items"]
                runs = [Run(item) for item in items]
                pause = 0.1
            except Exception as raised:
                failure = raised
            with self._lock:
                self._questions -= 1
                self._wanted_runs -= room
                self._undone += len(runs)
                for run in runs:
                    self._active[run.id] = run
                stopping = self._stopping
                if runs:
                    self._beat_sooner.notify()
                if failure is not None or stopping:
                    self._polls.discard(connection)
                    connection.close()
                    connection = None
            if failure is not None:
                if stopping:
                    return
                log.warning("cannot lease runs now: %s", failure)
                # The server may be restarting: random delays keep its workers from retrying all at once.
                self._halted.wait(pause * (1 + random.random()))
                pause = min(pause * 2, 10.0)
                continue
            if stopping:
                with self._lock:
                    self._unbegun += runs
            else:
                for run in runs:
                    self._work.put(run)

    # Stopping closes the sending half of a poll's connection. The server sees that the poll has ended, and runs that it
    # has leased already still arrive. The worker may have begun to stop while this poll was being sent.
    def _sent(self, connection):
        with self._lock:
            stopping = self._stopping
        if stopping:
            _close_sending(connection)

    def _work_loop(self):
        while True:
            run = self._work.get()
            if run is None:
                return
            if self._stopping:
                with self._lock:
                    self._unbegun.append(run)
                    self._active_changed.notify_all()
                continue
            began = time.monotonic()
            report, brief = self._report_of(run)
            took = time.monotonic() - began
            with self._lock:
                self._undone -= 1
                # A slow handler raises the average at once; fast ones lower it gradually.
                slower = self._handled is None or took > self._handled
                self._handled = took if slower else self._handled * 0.9 + took * 0.1
                if self._room() > 0:
                    self._room_changed.notify()
            if report is None or run.cancelled:
                self._forget(run)
            else:
                self._reports.put((run, report, brief))

    # The report of this attempt, as JSON; None if the result will not be used. Every exception and every return value
    # becomes a report: a value that JSON cannot hold is a failed attempt. The second value is a failure's brief report,
    # for a server that refuses the whole.
    def _report_of(self, run):
        report = {"id": run.id, "fence": run.fence}
        try:
            try:
                handler = self._find_handler(run.type)
                if handler is None:
                    raise RunError("no_handler_registered", retry=False)
                return _json(dict(report, result=handler(run))), None
            except RunError as failure:
                report["retry"] = bool(failure.retry)
                delay = _milliseconds(failure.delay)
                if delay is not None:
                    report["delay"] = delay
                error = {"class": failure.error_class if failure.error_class in CLASSES else "transport",
                         "code": _text(failure.code, CODE_MAX)}
                message = _text(failure.message)
                whole = dict(report, error=dict(error, message=message, details=failure.details))
                brief = dict(report, error=dict(error, message=message[:SHORT_MESSAGE_MAX]))
                return _json(whole), _json(brief)
        except Cancelled:
            return None, None
        except BaseException as failure:  # includes SystemExit: a handler must not end the worker
            log.exception("run %s of type %s failed", run.id, run.type)
            error = {"class": "transport", "code": _text(type(failure).__name__, CODE_MAX),
                     "message": _text(failure, MESSAGE_MAX)}
            return _json(dict(report, error=error)), None

    # Runs that finish while a request is in flight are reported together in the next request.
    def _report_loop(self):
        while True:
            first = self._reports.get()
            if first is None:
                self._reports.put(None)
                return
            batch, size = [first], len(first[1])
            while len(batch) < REPORTS_MAX and size < REPORT_BYTES_MAX:
                try:
                    more = self._reports.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    self._reports.put(None)
                    break
                if size + len(more[1]) > REPORT_BYTES_MAX:
                    self._reports.put(more)
                    break
                batch.append(more)
                size += len(more[1])
            try:
                self._send_reports(batch)
            finally:
                for run, _, _ in batch:
                    self._forget(run)

    # Sends the reports again until their leases have expired, so that a short outage does not lose finished work.
    def _send_reports(self, batch, final=False):
        pause, broken = 0.1, 0
        lease_ends = max(run.lease_ends for run, _, _ in batch)
        while batch:
            try:
                body = b'{"worker":%s,"reports":[%s]}' % (_json(self.name), b",".join(report for _, report, _ in batch))
                answer = self._client.call("POST", "/v1/runs/report", body, repeatable=True)
                batch = self._unreported(batch, answer["items"])
                if not batch:
                    return
            except Problem as failure:
                if failure.status in REFUSED:
                    return self._send_refused(batch, failure, final)
                log.warning("reports will be sent again: %s", failure)
            except ConnectionFailed as failure:
                log.warning("reports will be sent again: %s", failure)
                broken += 1
                kept = batch[0][0].lease_ends > lease_ends
                if broken >= BROKEN_MAX and kept and len(batch) == 1 and len(batch[0][1]) > REPORT_BYTES_MAX:
                    return self._send_refused(batch, Problem(413, {"detail": str(failure)}), final)
            batch = [one for one in batch if time.monotonic() < one[0].lease_ends]
            self._halted.wait(pause)
            pause = min(pause * 2, 2.0)
            if self._halted.is_set() and pause > 1:
                return

    # The reports that the server could not accept now.
    def _unreported(self, batch, items):
        outcomes = {item["id"]: item for item in items}
        again = []
        for one in batch:
            run = one[0]
            item = outcomes.get(run.id, {})
            if item.get("outcome") == "lease_lost":
                log.warning("run %s: the lease was lost, the result is not used", run.id)
            elif item.get("outcome") == "error":
                log.error("run %s could not be reported: %s", run.id, item.get("error"))
                if item.get("retryable"):
                    again.append(one)
        return again

    # One bad report must not affect the others. A refused failure is reported again without its details. A refused
    # result fails its run: a retry would end the same way.
    def _send_refused(self, batch, failure, final):
        if len(batch) > 1:
            middle = len(batch) // 2
            self._send_reports(batch[:middle])
            self._send_reports(batch[middle:])
            return
        run, report, brief = batch[0]
        log.error("run %s: its report was refused: %s", run.id, failure)
        if final:
            return
        if brief is not None:
            return self._send_reports([(run, brief, None)])
        code = "result_too_large" if failure.status == 413 else "report_refused"
        error = {"class": "transport", "code": code,
                 "message": "the server refused a report of %d bytes: %s" % (len(report), _text(failure, 1000))}
        told = {"id": run.id, "fence": run.fence, "error": error, "retry": False}
        self._send_reports([(run, _json(told), None)], final=True)

    def _heartbeat_loop(self):
        while True:
            with self._lock:
                if self._halted.is_set():
                    return
                # A new run may have a shorter lease than all others, so it ends the wait.
                self._beat_sooner.wait(self._next_beat())
                if self._halted.is_set():
                    return
                now = time.monotonic()
                due = [run for run in self._active.values() if run.beat_at <= now][:HEARTBEATS_MAX]
                # Retry soon unless an answer arrives.
                for run in due:
                    run.beat_at = now + max(run.lease / 6, HEARTBEAT_TIMEOUT_MIN)
                if due:
                    self._beat_sooner.notify()  # the other thread watches the rest while this one waits for an answer
            if due:
                self._heartbeat(due)

    def _next_beat(self):
        beats = [run.beat_at for run in self._active.values()]
        return min(3600, max(0.01, min(beats) - time.monotonic())) if beats else 3600

    def _heartbeat(self, runs):
        timeout = max(min(run.lease for run in runs) / 6, HEARTBEAT_TIMEOUT_MIN)
        outcomes = {}
        try:
            sent = [{"id": run.id, "fence": run.fence, "lease": "%dms" % (run.lease * 1000)} for run in runs]
            answer = self._client.call("POST", "/v1/runs/heartbeat", {"worker": self.name, "runs": sent},
                                       timeout=timeout, repeatable=True)
            outcomes = {item["id"]: item for item in answer["items"]}
        except (Problem, ConnectionFailed) as failure:
            log.warning("heartbeat failed for %d runs: %s", len(runs), failure)
        for run in runs:
            item = outcomes.get(run.id, {"outcome": "error", "error": "no answer"})
            if item["outcome"] == "kept":
                with self._lock:
                    run.extend(item["lease_ms"] / 1000.0)
            elif item["outcome"] != "error":
                # The lease is lost: the result of the handler will not be used.
                log.warning("run %s: %s", run.id, item["outcome"])
                run.abandon()
            elif time.monotonic() >= run.lease_ends:
                log.warning("run %s: its lease has expired: %s", run.id, item["error"])
                run.abandon()


# A text that every server takes: lone surrogates and U+0000 cannot be stored. A conversion that fails is no text.
def _text(value, length=None):
    try:
        text = value if isinstance(value, str) else str(value)
    except Exception:
        text = "%s without a text" % type(value).__name__
    return re.sub(r"[\x00\ud800-\udfff]", "\ufffd", text[:length])


# A delay in seconds, as the server reads it; None if it is no number.
def _milliseconds(delay):
    if not isinstance(delay, (int, float)) or delay != delay:
        return None
    return "%dms" % (min(max(0, delay), DELAY_MAX) * 1000)


def _json(value):
    return json.dumps(value, allow_nan=False).encode()


# Closes the sending half of a connection; what the server has sent can still be read. This works with TLS too, where
# SSLSocket.shutdown would drop the keys.
def _close_sending(connection):
    try:
        if connection.sock is not None:
            socket.socket.shutdown(connection.sock, socket.SHUT_WR)
    except OSError:
        pass
