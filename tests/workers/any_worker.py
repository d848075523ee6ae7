"""A worker of prefixes_test.py: any_worker.py SERVER. Its only handler takes every type."""

import os
import signal
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "clients", "python"))

from cairn_worker import Worker

worker = Worker(sys.argv[1], concurrency=2)
worker.handle("*", lambda run: run.type)
asked = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: asked.set())
worker.start()
print("working", flush=True)
asked.wait()
worker.stop()
