"""A real `cairn dev` on a free port with a store of its own, for tests that talk to it over HTTP."""

import http.client
import json
import os
import re
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))


class Server:
    def __init__(self, binary, *arguments, folder=None, port=0, environment=None):
        self.binary = binary
        self.arguments = arguments
        self.environment = dict(os.environ, **(environment or {}))
        self.temporary = None if folder else tempfile.TemporaryDirectory(prefix="cairn_workers_")
        self.folder = folder or self.temporary.name
        self.port = port
        self.process = None
        self.start()

    def start(self):
        self.log = open(os.path.join(self.folder, "server.log"), "ab")
        self.process = subprocess.Popen(
            [self.binary, "dev", "--listen", "127.0.0.1:%d" % self.port, "--store",
             "sqlite:" + os.path.join(self.folder, "store.db"), *self.arguments],
            cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            found = re.search(r"ready at http://127\.0\.0\.1:(\d+)/", line)
            if found:
                self.port = int(found.group(1))
                return
        raise AssertionError("the server did not start; see " + self.log.name)

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.port

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        self.process.stdout.close()
        self.log.close()
        if self.temporary:
            self.temporary.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def call(self, method, path, body=None, headers=None):
        """(status, document)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = None if body is None else json.dumps(body)
        sent = dict(headers or {})
        if data is not None:
            sent["Content-Type"] = "application/json"
        connection.request(method, path, data, sent)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, json.loads(text) if text else None

    def submit(self, type, payload=None, **options):
        status, run = self.call("POST", "/v1/runs", dict(options, type=type, payload=payload))
        assert status == 201, (status, run)
        return run["id"]

    def run(self, id):
        status, run = self.call("GET", "/v1/runs/" + id)
        assert status == 200, (status, run)
        return run

    def until(self, id, *statuses, seconds=60):
        """The run once it has one of these statuses."""
        ends = time.monotonic() + seconds
        while True:
            run = self.run(id)
            if run["status"] in statuses:
                return run
            assert time.monotonic() < ends, "run %s is still %s" % (id, run)
            time.sleep(0.01)

    def events(self, id):
        status, page = self.call("GET", "/v1/runs/%s/events" % id)
        assert status == 200, (status, page)
        return [event["event"] for event in page["items"]]

    def lease(self, worker, **asked):
        status, answer = self.call("POST", "/v1/runs/lease", dict(asked, worker=worker))
        assert status == 200, (status, answer)
        return answer["items"]
