#!/usr/bin/env python3
"""Which types a worker leases: prefixes_test.py CAIRN ANY EXAMPLE, each program with its arguments separated by spaces.

ANY has one handler for every type, EXAMPLE has handlers for billing.charge.v1 and billing.slow. (clients_test.py)."""

import os
import signal
import subprocess
import sys
import unittest

from server import Server

BINARY = os.path.abspath(sys.argv[1])
ANY, EXAMPLE = (program.split(" ") for program in sys.argv[2:4])
VARIABLES = ("CAIRN_WORKER_TYPE_PREFIXES", "WORKER_TYPE_PREFIXES")


class PrefixesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(BINARY)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def check(self, program, left, done, **variables):
        """Submits a run of each type. The worker must end those of `done`, with this status or error. Then those of
        `left` must still be pending: they are older, so the worker has passed over them."""
        environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        ids = {type: self.server.submit(type, {"amount": 1}) for type in [*left, *done]}
        worker = subprocess.Popen([*program, self.server.url], stdout=subprocess.PIPE, text=True,
                                  env=dict(environment, **variables))
        try:
            self.assertEqual(worker.stdout.readline(), "working\n")
            for type, expected in done.items():
                run = self.server.until(ids[type], "succeeded" if expected == "succeeded" else "failed")
                self.assertEqual(run["last_error"] if run["status"] == "failed" else run["status"], expected, type)
            for type in left:
                self.assertEqual(self.server.run(ids[type])["status"], "pending", type)
        finally:
            worker.send_signal(signal.SIGTERM)
            self.assertEqual(worker.wait(30), 0)
            worker.stdout.close()
            for id in ids.values():
                self.server.call("POST", "/v1/runs/%s/cancel" % id)

    def test_a_worker_for_every_type_leases_default_unless_it_is_told(self):
        self.check(ANY, ["billing.a"], {"default.b": "succeeded"})

    def test_the_variable_chooses_prefixes(self):
        self.check(ANY, ["default.a"], {"billing.a": "succeeded", "media.b": "succeeded"},
                   WORKER_TYPE_PREFIXES="billing., media.%")

    def test_ours_comes_before_the_common_one_and_empty_is_unset(self):
        self.check(ANY, ["billing.a"], {"media.b": "succeeded"}, WORKER_TYPE_PREFIXES="billing.",
                   CAIRN_WORKER_TYPE_PREFIXES="media.")
        self.check(ANY, ["media.a"], {"billing.b": "succeeded"}, WORKER_TYPE_PREFIXES="billing.",
                   CAIRN_WORKER_TYPE_PREFIXES=" ,")

    def test_handlers_name_their_types_without_the_variable(self):
        self.check(EXAMPLE, ["default.a", "billing.refund.v1"], {"billing.charge.v1": "succeeded"})

    def test_the_variable_comes_before_the_types_of_handlers(self):
        self.check(EXAMPLE, ["billing.charge.v1"], {"media.a": "no_handler_registered"}, WORKER_TYPE_PREFIXES="media.")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
