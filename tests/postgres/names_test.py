#!/usr/bin/env python3
"""names_test.py CAIRN SOURCE_DIR LIBRARY: name servers that do not answer. LIBRARY makes every lookup in hangs.example wait for ever. A node whose
database has such a name says so and ends. A node whose Redis has one serves and stops. CAIRN_TEST_POSTGRES names the server."""
import os, signal, subprocess, sys, time

cairn, source, library = (os.path.abspath(path) for path in sys.argv[1:4])
sys.path.insert(0, os.path.join(source, "tests/http"))
from served import Served, expect, finish

server = os.environ.get("CAIRN_TEST_POSTGRES")
if not server:
    print("CAIRN_TEST_POSTGRES names no server: skipped")
    sys.exit(0)
hanging = {"LD_PRELOAD": library}

begun = time.monotonic()
refused = subprocess.run([cairn, "serve", "--store", "postgresql://cairn@db.hangs.example/cairn?connect_timeout=2", "--listen", "127.0.0.1:0"],
                         capture_output=True, text=True, timeout=60, env={**os.environ, **hanging})
expect("a node does not start without its database", refused.returncode != 0 and "has not answered for db.hangs.example" in refused.stderr, refused.stderr)
expect("and says so soon", time.monotonic() - begun < 20, time.monotonic() - begun)

other = subprocess.run([cairn, "verify", "--store", "postgresql://cairn@db.hangs.example,localhost/cairn?connect_timeout=2&port=1,1"],
                       capture_output=True, text=True, timeout=60, env={**os.environ, **hanging})
expect("another host of the list is tried", other.returncode != 0 and "port 1 failed" in other.stderr, other.stderr)

store = f"{server}&schema=names_{os.getpid()}"
node = Served(cairn, "--auth", "none", "--hints", "redis://redis.hangs.example:6379", store=store, keys=False, environment={**hanging, "CAIRN_DRAIN": "5s"})
expect("a node starts without its hints", node.port is not None, getattr(node, "said", ""))
expect("it is alive", node.call("GET", "/livez").status == 200)
expect("and ready", node.call("GET", "/readyz").status == 200)
begun = time.monotonic()
expect("it stops", node.end(signal.SIGTERM) == 0, getattr(node, "said", "")[-500:])
expect("within its drain time", time.monotonic() - begun < 10, time.monotonic() - begun)
finish()
