"""Instants and lengths of time in whole milliseconds."""
import datetime
import re

from failure import Failure

UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
ISO = re.compile(r"^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?$")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class Time:
    def __init__(self, ms):
        self.ms = ms

    def __eq__(self, other):
        return isinstance(other, Time) and self.ms == other.ms

    def text(self):
        at = EPOCH + datetime.timedelta(milliseconds=self.ms)
        fraction = f"{self.ms % 1000:03d}".rstrip("0")
        return at.strftime("%Y-%m-%dT%H:%M:%S") + (f".{fraction}" if fraction else "") + "Z"


class Span:
    def __init__(self, ms):
        self.ms = ms

    def __eq__(self, other):
        return isinstance(other, Span) and self.ms == other.ms

    def text(self):
        left, sign = abs(self.ms), "-" if self.ms < 0 else ""
        days, left = divmod(left, 86_400_000)
        hours, left = divmod(left, 3_600_000)
        minutes, left = divmod(left, 60_000)
        seconds, ms = divmod(left, 1000)
        clock = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
        if seconds or ms:
            clock += str(seconds) + (f".{ms:03d}".rstrip("0") if ms else "") + "S"
        date = f"{days}D" if days else ""
        if not date and not clock:
            clock = "0S"
        return sign + "P" + date + ("T" + clock if clock else "")


def parse_span(text):
    iso = ISO.match(text)
    if iso and text != "P":
        w, d, h, m, s, fraction = iso.groups()
        ms = sum(int(n or 0) * UNITS[u] for n, u in ((w, "w"), (d, "d"), (h, "h"), (m, "m"), (s, "s")))
        return Span(ms + int((fraction or "0").ljust(3, "0")[:3]))
    if re.fullmatch(r"(\d+(ms|[smhdw]))+", text):
        return Span(sum(int(n) * UNITS[u] for n, u in re.findall(r"(\d+)(ms|[smhdw])", text)))
    raise Failure("expression", "invalid_argument", f"no duration: {text}")


def parse_time(text):
    try:
        at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise Failure("expression", "invalid_argument", f"no time: {text}") from None
    return Time((at - EPOCH) // datetime.timedelta(milliseconds=1))
