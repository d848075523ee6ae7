"""An example worker that charges cards; a test runs it: python3 example.py http://127.0.0.1:8400"""

import sys

from cairn_worker import BusinessError, RetryLater, Worker

worker = Worker(sys.argv[1], concurrency=4, name="billing")


@worker.handler("billing.charge.v1")
def charge(run):
    amount = run.payload["amount"]
    if amount > 1000:
        raise BusinessError("limit", "more than this card may be charged", {"limit": 1000})
    if amount < 0 and run.attempt == 1:
        raise RetryLater(0, message="the bank is closed at the first attempt")
    return {"charged": amount, "key": run.idempotency_key, "attempt": run.attempt, "trace": run.traceparent}


@worker.handler("billing.slow.")
def slow(run):
    # This takes longer than the lease: the client extends it. It ends early if the run is cancelled.
    if run.wait(run.payload["seconds"]):
        run.check()
    return "done"


if __name__ == "__main__":
    print("working", flush=True)
    worker.run()
