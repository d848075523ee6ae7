"""What can go wrong in an instance, as the workflow sees it."""


class Failure(Exception):
    """An error of a workflow, on its way from the step that had it."""

    def __init__(self, kind, code, message="", details=None, attempt=1, step=None):
        super().__init__(f"{kind}/{code}")
        self.kind, self.code, self.message, self.details = kind, code, message, details
        self.attempt, self.step = attempt, step
        self.effect = None  # of the call that failed: its retry keeps the idempotency key
        self.calls = {}  # failed calls by position, with request and effect: a retry of a try around them keeps their keys
        self.undoing = False  # whether `calls` are in a compensation

    def as_name(self):
        return {"class": self.kind, "code": self.code, "message": self.message, "details": self.details,
                "attempt": self.attempt}


class Thrown(BaseException):
    """A failure that found its handler: unwinds to `target`, or out of its strand when that is None."""

    def __init__(self, failure, target, entry=None):
        super().__init__(str(failure))
        self.failure, self.target, self.entry = failure, target, entry


class Completed(BaseException):
    """The step `complete`: unwinds through every `finally` of its strand and of those around it."""

    def __init__(self, given, output):
        super().__init__("complete")
        self.given, self.output = given, output


class SkippedStep(BaseException):
    """An operator went past an incident at `result`: the step is over, with this result."""

    def __init__(self, result):
        super().__init__("skip")
        self.result = result


class Reentered(BaseException):
    """An operator's decision about an error that had left `target`, a try whose `finally` ran: it is about that try."""

    def __init__(self, target, decision, calls):
        super().__init__(decision[0])
        self.target, self.decision, self.calls = target, decision, calls


class Difference(Exception):
    """The record says something that the specification does not explain."""


class Unspecified(Exception):
    """The record goes where the specification is silent: no verdict."""
