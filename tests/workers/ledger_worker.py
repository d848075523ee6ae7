"""Writes to the ledger of ledger_test.py: ledger_worker.py SERVER LEDGER"""

import json
import sys
import urllib.request

from cairn_worker import Worker

worker = Worker(sys.argv[1], concurrency=4, lease=2.0)


@worker.handler("ledger.write.v1")
def write(run):
    request = urllib.request.Request(
        sys.argv[2] + "/effects", json.dumps(run.payload).encode(),
        {"Content-Type": "application/json", "Idempotency-Key": run.idempotency_key})
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.load(response)


worker.run()
