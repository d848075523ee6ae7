#!/usr/bin/env python3
"""stream_order_test.py CAIRN SOURCE_DIR [PARAMETER]: events on PostgreSQL whose transactions commit in another order than they took their numbers:
nobody's position passes one by. PARAMETER is added to the store's URL. CAIRN_TEST_POSTGRES names the server."""
import json, os, re, select, socket, subprocess, sys, time
from served import Served, expect, finish

url = os.environ.get("CAIRN_TEST_POSTGRES")
if not url:
    print("CAIRN_TEST_POSTGRES is not set: nothing to test on")
    sys.exit(0)
schema = f"stream_{os.getpid()}"


class Session:
    """One connection of psql, whose transaction stays open as long as we like."""

    def __init__(self):
        self.process = subprocess.Popen(["psql", "-X", "-q", "-A", "-t", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, statement):
        self.process.stdin.write(statement + ";\n\\echo done\n")
        self.process.stdin.flush()
        while (line := self.process.stdout.readline().strip()) != "done":
            if not line and self.process.poll() is not None:
                sys.exit("psql has gone")

    def emit(self, kind, at="now()"):
        self.say(f"INSERT INTO {schema}.outbox_event (event_type, aggregate_id, payload, created_at) VALUES ('{kind}', 's', '{{}}', {at})")


class Stream:
    def __init__(self, server, after=None):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        position = f"Last-Event-ID: {after}\r\n" if after is not None else ""
        self.socket.sendall(f"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.keys['viewer']}\r\n{position}\r\n".encode())
        self.text = b""
        while b"\r\n\r\n" not in self.text:
            self.text += self.socket.recv(4096)

    def events(self, count, seconds=60):
        """Up to `count` events: fewer when the others do not come."""
        end = time.monotonic() + seconds
        while True:
            found = re.findall(rb"id: (\d+)\nevent: cloudevent\ndata: (.*)\n", self.text)
            if len(found) >= count or time.monotonic() > end:
                return [(int(number), json.loads(data)["type"]) for number, data in found]
            if not select.select([self.socket], [], [], 1)[0]:
                continue
            chunk = self.socket.recv(65536)
            if not chunk:
                sys.exit("the stream has ended")
            self.text += chunk


server = Served(sys.argv[1], "--drain-delay", "0s", store=url + ("&" if "?" in url else "?") + "&".join(["schema=" + schema, *sys.argv[3:]]))
expect("it starts", server.port is not None, getattr(server, "said", ""))
early, late = Session(), Session()
early.emit("t.before")
stream = Stream(server, after=0)
expect("a stream from the beginning", [kind for _, kind in stream.events(1)] == ["t.before"])

late.say("BEGIN")
late.emit("t.late")  # has its number, and is not committed
early.emit("t.early")
resumed = Stream(server, after=stream.events(1)[0][0])
late.say("COMMIT")
kinds = [kind for _, kind in stream.events(3)]
expect("what commits later comes in its place", kinds == ["t.before", "t.late", "t.early"], kinds)
kinds = [kind for _, kind in resumed.events(2)]
expect("also for who came back meanwhile", kinds == ["t.late", "t.early"], kinds)

late.say("BEGIN")
late.emit("t.never")
early.emit("t.after")
late.say("ROLLBACK")
kinds = [kind for _, kind in stream.events(4)]
expect("a number that never comes does not stop the stream", kinds[3:] == ["t.after"], kinds)

# The same when the transaction stays open for long: the event after it is a minute old. A transaction that writes other tables does not matter.
unrelated = Session()
unrelated.say("BEGIN")
unrelated.say("CREATE TEMP TABLE mine AS SELECT 1")
late.say("BEGIN")
late.emit("t.hour")
early.emit("t.old", at="now() - interval '1 min'")
for _ in range(20):
    server.call("GET", "/v1/instances", role="viewer")
late.say("COMMIT")
kinds = [kind for _, kind in stream.events(6)]
expect("what commits much later comes in its place", kinds[4:] == ["t.hour", "t.old"], kinds)

# A node that has no stream open looks for its position when one comes: it must not pass an event that is still to commit.
seen = stream.events(6)[-1][0]
other = Served(sys.argv[1], "--drain-delay", "0s", store=server.store, keys=False)
expect("a second node starts", other.port is not None, getattr(other, "said", ""))
other.keys = server.keys
late.say("BEGIN")
late.emit("t.late2")
early.emit("t.early2")
resumed = Stream(other, after=seen)
resumed.socket.sendall(b"")
# Until the node has looked: it answers requests in the order in which its feed can have seen them.
for _ in range(20):
    other.call("GET", "/v1/instances", role="viewer")
late.say("COMMIT")
kinds = [kind for _, kind in resumed.events(2)]
expect("the first stream of a node gets what commits late", kinds[:2] == ["t.late2", "t.early2"], kinds)
expect("SIGTERM ends the second node with 0", other.end() == 0, other.said)
expect("SIGTERM ends with 0", server.end() == 0, server.said)
early.say(f"DROP SCHEMA {schema} CASCADE")
for session in (early, late, unrelated):
    session.process.stdin.close()
    session.process.wait(30)
finish()
