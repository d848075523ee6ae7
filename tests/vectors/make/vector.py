"""Vectors as JSON: typed values from Python values, one file for each area.

Expected values come from Python's own decimal, datetime, zoneinfo, hashlib and json, or were worked
out by hand; never from cairn's answers.
"""

import base64
import datetime
import decimal
import json
import math
import pathlib

UTC = datetime.timezone.utc


class Uint(int):
    """An unsigned whole number."""


class Nanos:
    """A time with nanoseconds: a datetime to the second and the rest."""

    def __init__(self, at, nanos):
        self.at, self.nanos = at, nanos


def timestamp_text(at, nanos=None):
    at = at.astimezone(UTC)
    nanos = at.microsecond * 1000 if nanos is None else nanos
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{at.year:04d}-{at.month:02d}-{at.day:02d}T{at.hour:02d}:{at.minute:02d}:{at.second:02d}{fraction}Z"


def duration_text(length):
    micros = length // datetime.timedelta(microseconds=1)
    sign, micros = ("-", -micros) if micros < 0 else ("", micros)
    fraction = f".{micros % 1000000:06d}".rstrip("0") if micros % 1000000 else ""
    return f"{sign}{micros // 1000000}{fraction}s"


def number_text(value):
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def typed(value):
    if value is None:
        return {"null": None}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, Uint):
        return {"uint": str(int(value))}
    if isinstance(value, int):
        return {"int": str(value)}
    if isinstance(value, float):
        return {"double": number_text(value)}
    if isinstance(value, str):
        return {"string": value}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, decimal.Decimal):
        return {"decimal": format(value, "f")}
    if isinstance(value, datetime.datetime):
        return {"timestamp": timestamp_text(value)}
    if isinstance(value, Nanos):
        return {"timestamp": timestamp_text(value.at, value.nanos)}
    if isinstance(value, datetime.timedelta):
        return {"duration": duration_text(value)}
    if isinstance(value, (list, tuple)):
        return {"list": [typed(item) for item in value]}
    if isinstance(value, dict):
        return {"map": [[typed(key), typed(item)] for key, item in value.items()]}
    raise TypeError(type(value))


def quoted(text):
    """A text literal of the expression language."""
    return json.dumps(text, ensure_ascii=False)


class Area:
    def __init__(self, name, description):
        self.name, self.description = name, description
        self.vectors, self.names, self.section = [], set(), ""

    def at(self, section):
        self.section = section
        return self

    def _add(self, expr, expect, name, bindings):
        name = name or expr
        key = f"{self.name}/{self.section}/{name}"
        count = 1
        while key in self.names:
            count += 1
            key = f"{self.name}/{self.section}/{name}#{count}"
        self.names.add(key)
        vector = {"id": key, "group": "cairn." + self.name, "file": self.name, "section": self.section, "expr": expr}
        if bindings:
            vector["bindings"] = {variable: typed(value) for variable, value in bindings.items()}
        vector["expect"] = expect
        self.vectors.append(vector)

    def gives(self, expr, value, name=None, **bindings):
        self._add(expr, {"value": typed(value)}, name, bindings)

    def fails(self, expr, code, name=None, **bindings):
        self._add(expr, {"error": code, "code": code}, name, bindings)

    def write(self, folder):
        lines = ",\n".join(json.dumps(vector, ensure_ascii=False) for vector in self.vectors)
        head = json.dumps({"file": self.name, "description": self.description, "count": len(self.vectors)})
        path = pathlib.Path(folder) / f"{self.name}.json"
        path.write_text(f'{head[:-1]}, "vectors": [\n{lines}\n]}}\n', encoding="utf-8")
        return len(self.vectors)
