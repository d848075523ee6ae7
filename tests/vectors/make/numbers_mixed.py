"""Mixed arithmetic, overflow and comparison across kinds (V11), rounding and clamping."""

import decimal
import math

from vector import Area, Uint

MOST, LEAST = 2**63 - 1, -(2**63)


def area():
    a = Area("numbers", "mixed arithmetic, overflow, comparison across kinds")

    a.at("mixed")
    for x, y in [(1, 2.5), (2.5, 1), (7, 2.0), (-7, 2.0), (0, 0.1), (3, -0.5), (10**15, 0.1), (MOST, 1.0), (LEAST, 0.5)]:
        a.gives(f"{x} + {y}", float(x) + float(y))
        a.gives(f"{x} - {y}", float(x) - float(y))
        a.gives(f"{x} * {y}", float(x) * float(y))
        a.gives(f"{x} / {y}", float(x) / float(y))
        a.gives("x + y", float(x) + float(y), x=x, y=y)
    a.gives("1 / 0.0", math.inf)
    a.gives("-1 / 0.0", -math.inf)
    a.gives("0 / 0.0", math.nan)
    a.gives("input.price * input.count", 7.5, input={"price": 2.5, "count": 3})
    a.gives("input.price * input.count", 6, input={"price": 2, "count": 3})
    a.gives("input.total / input.count", 2.5, input={"total": 5, "count": 2.0})
    a.gives("[1, 2.5, 3].map(x, x * 2)", [2, 5.0, 6])
    a.fails("1 % 2.5", "no_such_overload")
    a.fails("x % y", "no_such_overload", x=5.0, y=2.0)

    a.at("whole")
    for x, y in [(7, 2), (-7, 2), (7, -2), (-7, -2), (1, 3), (0, 5)]:
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        a.gives(f"{x} / {y}", quotient)
        a.gives(f"{x} % {y}", x - quotient * y)
    a.gives(f"{MOST} + 0", MOST)
    a.gives(f"{LEAST}", LEAST)
    for expr in [f"{MOST} + 1", f"{LEAST} - 1", f"{MOST} * 2", f"{LEAST} / -1", "-x", "x + x"]:
        bindings = {"x": LEAST} if "x" in expr else {}
        a.fails(expr, "overflow", **bindings)
    a.fails("1 / 0", "divide_by_zero")
    a.fails("1 % 0", "divide_by_zero")
    a.fails("x / y", "divide_by_zero", x=1, y=0)
    a.fails("1u - 2u", "overflow")
    a.fails("18446744073709551615u + 1u", "overflow")
    a.gives("7u / 2u", Uint(3))

    a.at("compare")
    pairs = [(1, 1.0), (1, 1.5), (2, 1.5), (MOST, float(MOST)), (2**53, float(2**53)), (2**53 + 1, float(2**53)), (-1, Uint(1)), (1, Uint(1)), (1.0, Uint(1))]
    for x, y in pairs:
        # A whole number meets a double as the nearest double, as CEL has it.
        kind = float if isinstance(x, float) or isinstance(y, float) else int
        left, right = kind(x), kind(y)
        for op, holds in [("==", left == right), ("<", left < right), (">=", left >= right)]:
            a.gives(f"x {op} y", holds, x=x, y=y)
            a.gives(f"y {op} x", {"==": right == left, "<": right < left, ">=": right >= left}[op], x=x, y=y)
    a.gives("1 in [1.0, 2.0]", True)
    a.gives("{1: \"a\"}[1.0]", "a")
    a.gives("0.1 + 0.2 == 0.3", False)
    a.gives("x == x", False, x=math.nan)
    a.gives("x < 1.0 || x >= 1.0", False, x=math.nan)

    a.at("no truth but bool")
    a.fails("1 && true", "no_such_overload")
    a.fails("x ? 1 : 2", "no_such_overload", x=1)
    a.fails("!x", "no_such_overload", x="")
    a.fails("\"1\" + 1", "no_such_overload")
    a.fails("x + y", "no_such_overload", x="1", y=1)
    a.fails("x < y", "no_such_overload", x="1", y=1)
    a.fails("null + 1", "no_such_overload")

    a.at("round and clamp")
    for x, digits, wanted in [(2.675, 2, 2.68), (1.005, 2, 1.01), (-2.5, 0, -3.0), (0.1, 20, 0.1), (1e300, 2, 1e300), (5e-324, 3, 0.0), (1234.5678, 1, 1234.6), (0.05, 1, 0.1)]:
        a.gives(f"roundTo(x, {digits})", wanted, x=x)
    a.gives("roundTo(5, 2)", 5)
    a.gives("roundTo(x, 2)", math.inf, x=math.inf)
    a.fails("roundTo(1.5, -1)", "invalid_argument")
    a.fails("roundTo(1.5, 31)", "invalid_argument")
    a.gives("clamp(15, 0, 10)", 10)
    a.gives("clamp(-1, 0, 10)", 0)
    a.gives("clamp(5, 0, 10)", 5)
    a.gives("clamp(\"m\", \"a\", \"f\")", "f")
    a.gives("clamp(x, 0, 10)", 2.5, x=2.5)
    a.fails("clamp(1, 10, 0)", "invalid_argument")
    a.fails("clamp(x, 0, 10)", "no_such_overload", x="a")

    a.at("greatest and least")
    D = decimal.Decimal
    for name, pick in [("greatest", max), ("least", min)]:
        a.gives(f"math.{name}(x, y)", pick(D("2.5"), D("1.5")), x=D("2.5"), y=D("1.5"))
        a.gives(f"math.{name}(x, 2)", pick(D("2.5"), 2), x=D("2.5"))
        a.gives(f"math.{name}([1, 2.5, x])", pick(1, 2.5, Uint(7)), x=Uint(7))
        a.gives(f"math.{name}(1.5, x, 0.5)", pick(1.5, 0.5), x=math.nan)
        # A decimal and a double have no common order, wherever they stand.
        a.fails(f"math.{name}(x, y)", "no_such_overload", x=D("2.5"), y=1.5)
        a.fails(f"math.{name}(y, x)", "no_such_overload", x=D("2.5"), y=1.5)
        a.fails(f"math.{name}([7, y, x])", "no_such_overload", x=D("2.5"), y=1.5)
        a.fails(f"math.{name}(x, 7, y)", "no_such_overload", x=D("2.5"), y=1.5)
    return a
