"""A worker of stop_test.py: stop_worker.py SERVER LEDGER TYPE"""

import json
import signal
import sys
import threading
import urllib.request

from cairn_worker import Worker

server, ledger, type = sys.argv[1:]
worker = Worker(server, concurrency=4, poll=5.0)


@worker.handler(type)
def write(run):
    request = urllib.request.Request(ledger + "/effects", json.dumps(run.payload).encode(),
                                     {"Content-Type": "application/json", "Idempotency-Key": run.idempotency_key})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


asked = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: asked.set())
worker.start()
print("working", flush=True)
asked.wait()
worker.stop()
