#!/usr/bin/env python3
"""crowd_check.py CAIRN SOURCE_DIR [SLOW] [STREAMS]: good clients beside clients that never finish their request and idle event streams.
Prints the figures; fails when the 99th percentile of the good ones is more than twice what it was alone (and over 5 ms)."""
import http.client, os, resource, socket, sys, threading, time

slow_count = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
stream_count = int(sys.argv[4]) if len(sys.argv) > 4 else 5000
wanted = slow_count + stream_count + 1000
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, wanted)), hard))
from served import Served, expect, finish

server = Served(sys.argv[1], "--limits-streams-max", "0")
key = server.keys["viewer"]


def resident():
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / (1 << 20)


def threads():
    return len(os.listdir(f"/proc/{server.process.pid}/task"))


def percentiles(requests=1500, clients=4):
    took = []
    lock = threading.Lock()

    def ask():
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        own = []
        for _ in range(requests // clients):
            begun = time.perf_counter()
            connection.request("GET", "/v1/info", headers={"authorization": "Bearer " + key})
            answer = connection.getresponse()
            answer.read()
            own.append((time.perf_counter() - begun) * 1000)
            if answer.status != 200:
                own.append(1e9)
        with lock:
            took.extend(own)

    workers = [threading.Thread(target=ask) for _ in range(clients)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    took.sort()
    return took[len(took) // 2], took[len(took) * 99 // 100]


percentiles(400)
alone = percentiles()
memory = resident()
print(f"alone: median {alone[0]:.2f} ms, p99 {alone[1]:.2f} ms, {memory:.0f} MiB, {threads()} threads")
crowd = []
for index in range(stream_count):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(f"GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
    crowd.append(connection)
for connection in crowd:
    if b"200" not in connection.recv(4096):
        expect("a stream begins", False)
for index in range(slow_count):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(b"GET /v1/in")
    crowd.append(connection)
beside = percentiles()
print(f"beside {slow_count} slow clients and {stream_count} idle streams: median {beside[0]:.2f} ms, p99 {beside[1]:.2f} ms, "
      f"{resident():.0f} MiB, {threads()} threads")
expect("p99 at most doubles", beside[1] <= max(2 * alone[1], 5), (alone, beside))
expect("memory per connection is small", resident() - memory < 0.05 * len(crowd), resident() - memory)
for connection in crowd:
    connection.close()
expect("it ends with 0", server.end() == 0, server.said[-500:])
finish()
