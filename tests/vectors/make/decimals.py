"""Exact decimals against Python's decimal module."""

import decimal
import random
from decimal import Decimal as D
from fractions import Fraction

from vector import Area, quoted

EXACT = decimal.Context(prec=4000)
QUOTIENT = decimal.Context(prec=34, rounding=decimal.ROUND_HALF_EVEN)
MODES = {
    "half_even": decimal.ROUND_HALF_EVEN, "half_up": decimal.ROUND_HALF_UP, "half_down": decimal.ROUND_HALF_DOWN,
    "up": decimal.ROUND_UP, "down": decimal.ROUND_DOWN, "ceiling": decimal.ROUND_CEILING, "floor": decimal.ROUND_FLOOR,
}


def d(text):
    return f"decimal({quoted(text)})"


def plain(value):
    """Without a positive exponent or a negative zero, which cairn's decimals do not have."""
    if value.as_tuple().exponent > 0:
        value = value.quantize(D(1), context=EXACT)
    return abs(value) if value == 0 else value


def shares(total, weights, scale):
    """Largest remainders first, of equal ones the first; in whole units of 10^-scale."""
    units = int(abs(D(total)).scaleb(scale))
    exact = [Fraction(units) * Fraction(D(str(w))) / sum(Fraction(D(str(w))) for w in weights) for w in weights]
    parts = [int(part) for part in exact]
    order = sorted(range(len(parts)), key=lambda i: (-(exact[i] - parts[i]), i))
    for i in order[: units - sum(parts)]:
        parts[i] += 1
    sign = -1 if D(total) < 0 else 1
    return [plain(D(sign * part).scaleb(-scale)) for part in parts]


def area():
    a = Area("decimal", "exact decimals and money")
    rng = random.Random(20240229)

    a.at("text")
    for text in ["0", "0.00", "12.50", "-0.05", "1000000000000000000000000.000000000000000001", "007.10", "-0.0"]:
        a.gives(d(text), plain(D(text)))
        a.gives(f"string({d(text)})", format(plain(D(text)), "f"))
    for text in ["", "-", ".", "1.", ".5", "+1", "1e3", "1E400", "1,5", " 1", "1 ", "--1", "1.2.3", "0x10", "NaN", "Infinity", "１"]:
        a.fails(d(text), "invalid_argument")

    a.at("of numbers")
    a.gives("decimal(7)", D(7))
    a.gives("decimal(-9223372036854775807)", D(-9223372036854775807))
    a.gives("decimal(18446744073709551615u)", D(18446744073709551615))
    a.gives("decimal(decimal(\"1.50\"))", D("1.50"))
    a.fails("decimal(1.5)", "no_such_overload")
    a.fails("decimal(true)", "no_such_overload")
    a.fails("decimal(x)", "no_such_overload", x=1.5)
    a.fails("decimal(x)", "no_such_overload", x=None)

    a.at("arithmetic")
    def number():
        digits = rng.choice([1, 2, 4, 7, 9, 10, 18, 19, 27, 30])
        text = str(rng.randrange(10**digits))
        scale = rng.randrange(0, 6)
        text = text.rjust(scale + 1, "0")
        text = text[: len(text) - scale] + ("." + text[len(text) - scale:] if scale else "")
        return ("-" if rng.random() < 0.3 and D(text) != 0 else "") + text
    for _ in range(12):
        x, y = number(), number()
        a.gives(f"{d(x)} + {d(y)}", plain(EXACT.add(D(x), D(y))))
        a.gives(f"{d(x)} - {d(y)}", plain(EXACT.subtract(D(x), D(y))))
        a.gives(f"{d(x)} * {d(y)}", plain(EXACT.multiply(D(x), D(y))))
        if D(y) != 0:
            a.gives(f"{d(x)} / {d(y)}", plain(QUOTIENT.divide(D(x), D(y))))
            a.gives(f"{d(x)} % {d(y)}", plain(EXACT.remainder(D(x), D(y))))
    for x, y in [("1", "3"), ("2", "3"), ("10.00", "4"), ("1", "8"), ("100", "0.5"), ("0.00", "7"), ("1", "7"), ("22", "7"),
                 ("9" * 34, "1"), ("1" + "0" * 33 + "5", "1"), ("1" + "0" * 32 + "15", "1"), ("9" * 35, "1")]:
        a.gives(f"{d(x)} / {d(y)}", plain(QUOTIENT.divide(D(x), D(y))))
    a.gives("decimal(\"0.1\") + decimal(\"0.2\") == decimal(\"0.3\")", True)
    a.gives("decimal(\"19.99\") * 3", D("59.97"))
    a.gives("3 * decimal(\"19.99\")", D("59.97"))
    a.gives("10 - decimal(\"0.01\")", D("9.99"))
    a.gives("decimal(\"0.01\") - 10", D("-9.99"))
    a.gives("1 / decimal(\"4\")", D("0.25"))
    a.gives("decimal(\"7.5\") % 2", D("1.5"))
    a.gives("-decimal(\"1.50\")", D("-1.50"))
    a.gives("-decimal(\"0.00\")", D("0.00"))
    a.gives("x * y", D("7.50"), x=D("2.50"), y=3)
    a.gives("x.map(i, i.price * i.count).sum()", D("25.47"),
            x=[{"price": D("2.99"), "count": 3}, {"price": D("5.50"), "count": 3}])
    a.fails("decimal(\"1\") / decimal(\"0.00\")", "divide_by_zero")
    a.fails("decimal(\"1\") / 0", "divide_by_zero")
    a.fails("decimal(\"1\") % 0", "divide_by_zero")
    for op in "+-*/":
        a.fails(f"decimal(\"1\") {op} 1.5", "no_such_overload")
        a.fails(f"x {op} y", "no_such_overload", x=1.5, y=D("1"))
    a.fails("decimal(\"1\") + \"1\"", "no_such_overload")
    a.fails("x + y", "no_such_overload", x=D("1"), y="1")

    a.at("order")
    for x, y in [("1.10", "1.1"), ("1.1", "1.11"), ("-2", "-1.99"), ("0.00", "0"), ("0.1", "-1000000000000")]:
        for op, holds in [("==", D(x) == D(y)), ("!=", D(x) != D(y)), ("<", D(x) < D(y)), ("<=", D(x) <= D(y)),
                          (">", D(x) > D(y)), (">=", D(x) >= D(y))]:
            a.gives(f"{d(x)} {op} {d(y)}", holds)
    a.gives("decimal(\"2.00\") == 2", True)
    a.gives("2 == decimal(\"2.00\")", True)
    a.gives("decimal(\"2.01\") > 2", True)
    a.gives("2 < decimal(\"2.01\")", True)
    a.gives("decimal(\"9223372036854775808\") > 9223372036854775807", True)
    a.gives("decimal(\"2.0\") in [1, 2, 3]", True)
    a.gives("decimal(\"1.0\") != decimal(\"1\")", False)
    a.gives("x == y", True, x=D("1.0"), y=1)
    a.gives("[decimal(\"1.0\")] == [decimal(\"1.00\")]", True)
    a.gives("[decimal(\"3\"), decimal(\"1\"), decimal(\"2\")].max()", D("3"))
    for op in ["<", "<=", ">", ">=", "==", "!="]:
        a.fails(f"x {op} y", "no_such_overload", x=D("1.5"), y=1.5)
    a.fails("decimal(\"1.5\") < 2.0", "no_such_overload")
    a.gives("decimal(\"1\") == dyn(\"1\")", False)
    a.gives("decimal(\"1\") == dyn(null)", False)

    a.at("round")
    for value in ["2.5", "-2.5", "3.5", "2.51", "2.49", "-2.1", "0.4", "1.005"]:
        for mode, rounding in MODES.items():
            scale = 2 if value == "1.005" else 0
            wanted = plain(D(value).quantize(D(1).scaleb(-scale), rounding=rounding))
            a.gives(f"{d(value)}.round({scale}, {quoted(mode)})", wanted)
    a.gives("decimal(\"2.345\").round(2)", D("2.34"))
    a.gives("decimal(\"2.355\").round(2)", D("2.36"))
    a.gives("decimal(\"30.3\").round(2)", D("30.30"))
    a.gives("decimal(\"1250\").round(-2)", D("1200"))
    a.gives("decimal(\"1350\").round(-2)", D("1400"))
    a.gives("decimal(\"49\").round(-3)", D("0"))
    a.fails("decimal(\"1\").round(2, \"bankers\")", "invalid_argument")
    a.fails("decimal(\"1\").round(1001)", "overflow")
    a.fails("decimal(\"1\").round(1.5)", "no_such_overload")

    a.at("parts")
    a.gives("decimal(\"-1.5\").abs()", D("1.5"))
    a.gives("[decimal(\"-1.5\"), decimal(\"0.0\"), decimal(\"2\")].map(x, x.sign())", [-1, 0, 1])
    a.gives("decimal(\"1.50\").scale()", 2)
    a.gives("decimal(\"15\").scale()", 0)
    a.gives("decimal(\"0.0150\").precision()", 3)
    a.gives("decimal(\"0.00\").precision()", 1)
    a.gives("decimal(\"1.500\").normalize()", D("1.5"))
    a.gives("decimal(\"100\").normalize()", D("100"))
    a.gives("decimal(\"0.000\").normalize()", D("0"))
    a.gives("decimal(\"1.5\").min(decimal(\"1.49\"))", D("1.49"))
    a.gives("decimal(\"1.5\").max(2)", D("2"))
    a.gives("decimal(\"80.00\").percent(19)", D("15.2000"))
    a.gives("decimal(\"80.00\").percent(decimal(\"7.5\"))", D("6.00000"))
    a.gives("type(decimal(\"1\")) == decimal", True)

    a.at("conversion")
    for text in ["0.1", "1e0", "9007199254740993", "9007199254740993.0000000001", "-2.675", "0.3333333333333333333333"]:
        if "e" not in text:
            a.gives(f"double({d(text)})", float(D(text)))
    for text in ["2.9", "-2.9", "0.99", "9223372036854775807.9", "-9223372036854775808.9"]:
        a.gives(f"int({d(text)})", int(D(text)))
    a.gives("uint(decimal(\"2.9\"))", __import__("vector").Uint(2))
    a.fails("int(decimal(\"9223372036854775808\"))", "overflow")
    a.fails("uint(decimal(\"-1\"))", "overflow")
    a.fails(f"double({d('9' * 400)})", "overflow")

    a.at("allocate")
    for total, parts, scale in [("100", 3, 2), ("-0.05", 3, 2), ("0.02", 4, 2), ("10.00", 7, 2), ("1", 1, 0), ("99.99", 6, 2)]:
        a.gives(f"{d(total)}.allocate({parts}, {scale})", shares(total, [1] * parts, scale))
    for total, weights, scale in [("10.00", [1, 1, 4], 2), ("100", [70, 20, 10], 2), ("0.05", [3, 7], 2), ("-10", [1, 2], 2),
                                  ("1000", [0, 1, 2], 0), ("7.77", [1, 1, 1, 1], 2)]:
        a.gives(f"{d(total)}.allocate({weights}, {scale})", shares(total, weights, scale))
    a.gives("decimal(\"1.00\").allocate([decimal(\"1\"), decimal(\"1.5\")], 2)", shares("1.00", ["1", "1.5"], 2))
    a.gives("decimal(\"100\").allocate(7, 2).sum()", D("100.00"))
    a.fails("decimal(\"1.005\").allocate(2, 2)", "invalid_argument")
    a.fails("decimal(\"1\").allocate(0, 2)", "invalid_argument")
    a.fails("decimal(\"1\").allocate([], 2)", "invalid_argument")
    a.fails("decimal(\"1\").allocate([0, 0], 2)", "invalid_argument")
    a.fails("decimal(\"1\").allocate([1, -1], 2)", "invalid_argument")
    a.fails("decimal(\"1\").allocate([1, 0.5], 2)", "no_such_overload")

    a.at("beside doubles")
    for text in ["decimal(\"1.5\") in [1.5]", "1.5 in [decimal(\"1.5\")]", "[decimal(\"1.5\")] == [1.5]", "[1.5] != [decimal(\"1.5\")]",
                 "{\"a\": [1.5]} == {\"a\": [decimal(\"1.5\")]}", "[decimal(\"1.5\"), 1.5].distinct()",
                 "sets.contains([decimal(\"1.5\")], [1.5])", "optional.of(1.5) == optional.of(decimal(\"1.5\"))"]:
        a.fails(text, "no_such_overload")
    a.gives("decimal(\"1.5\") in [1.5, decimal(\"1.50\")]", True)
    a.gives("2 in [decimal(\"1.5\"), decimal(\"2.0\")]", True)
    a.gives("[decimal(\"1.0\"), 1].distinct().size()", 1)

    a.at("format")
    for text, digits in [("0.1", 20), ("12345678901234567890.125", 2), ("12345678901234567890.135", 2), ("-2.5", 0), ("3.5", 0),
                         ("1000000000000000000000000.000000000000000001", 18), ("7", 2), ("0.005", 2)]:
        rounded = D(text).quantize(D(1).scaleb(-digits), rounding=decimal.ROUND_HALF_EVEN, context=EXACT)
        a.gives(f"\"%.{digits}f\".format([{d(text)}])", format(plain(rounded), "f"))

    a.at("limits")
    nines = "9" * 1000
    a.gives(f"decimal({quoted(nines)}).precision()", 1000, name="a thousand digits")
    a.fails(f"decimal({quoted(nines)}) + 1", "overflow", name="one digit more")
    a.fails(f"decimal({quoted(nines)}) * 10", "overflow", name="ten times")
    a.fails(f"decimal({quoted(nines + '9')})", "overflow", name="text too long")
    return a
