#!/usr/bin/env python3
"""idle_connections_test.py CAIRN SOURCE_DIR: many connections that do nothing beside 64 that ask all the time. CAIRN_IDLE_CONNECTIONS=10000 is the
long form, in which the active ones must also be nearly as quick as without the others; that needs a machine that has nothing else to do."""
import os, resource, selectors, socket, statistics, sys, time
from served import Served, expect, finish, slack

count = int(os.environ.get("CAIRN_IDLE_CONNECTIONS", "1000"))
judged = count >= 10_000
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, count + 2_000)), hard))
server = Served(sys.argv[1], "--http-connections-max", str(count + 1_000), "--http-idle-timeout", "1h", "--limits-rate-viewer", "0",
                "--log-level", "error")
request = f"GET /v1/info HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.keys['viewer']}\r\n\r\n".encode()


def connect():
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def resident():
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def answered(connection):
    connection.sendall(request)
    said = b""
    while b"}" not in said:
        chunk = connection.recv(65536)
        if not chunk:
            return False
        said += chunk
    return said.startswith(b"HTTP/1.1 200")


def p99(rounds):
    """Of 64 connections that each ask again as soon as they are answered."""
    times, left = [], rounds
    with selectors.DefaultSelector() as selector:
        for _ in range(64):
            connection = connect()
            selector.register(connection, selectors.EVENT_READ, [time.perf_counter()])
            connection.sendall(request)
        while left > 0:
            for ready, _ in selector.select(60):
                if b"HTTP/1.1 200" not in ready.fileobj.recv(65536):
                    expect("the active ones are answered", False)
                    return 0
                now = time.perf_counter()
                times.append(now - ready.data[0])
                ready.data[0] = now
                ready.fileobj.sendall(request)
                left -= 1
        for key in list(selector.get_map().values()):
            key.fileobj.close()
    return statistics.quantiles(times, n=100)[98]


rounds = 20_000 if judged else 500
p99(rounds)  # warm
alone = [p99(rounds) for _ in range(3 if judged else 1)]
before = resident()
idle = [connect() for _ in range(count)]
for connection in idle[::2]:  # half of them have asked once
    expect("an idle one is answered", answered(connection)) if connection is idle[0] else answered(connection)
beside = [p99(rounds) for _ in range(3 if judged else 1)]
each = (resident() - before) / count
ratio = statistics.median(beside) / statistics.median(alone)
print(f"{count} idle connections, {each / 1024:.1f} KiB each; p99 {statistics.median(alone) * 1e3:.2f} ms alone, "
      f"{statistics.median(beside) * 1e3:.2f} ms beside them ({ratio:.2f} times)")
expect("an idle connection takes little memory", each < slack(sys.argv[1]) * (32 << 10), each)
if judged:
    expect("p99 grows less than twice", ratio < 2, ratio)
expect("idle ones are still there", all(answered(connection) for connection in idle[:: max(1, count // 50)]))
for connection in idle:
    connection.close()
expect("it ends with 0", server.end() == 0, server.said[-1000:])
finish()
