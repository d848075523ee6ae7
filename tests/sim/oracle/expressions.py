"""A small evaluator for the part of CEL that generated workflows use, written from the language's own rules.

Values are JSON values of Python, and Time and Span for timestamps and durations. A bool is never a number here.
"""
import functools
import re

from failure import Failure
from times import Span, Time, parse_span, parse_time

INT_MIN, INT_MAX = -(2**63), 2**63 - 1

TOKEN = re.compile(
    r"""\s*(?:
      (?P<int>\d+)
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<op>\|\||&&|==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}])
    )""",
    re.VERBOSE,
)

LEVELS = [["||"], ["&&"], ["==", "!=", "<", "<=", ">", ">=", "in"], ["+", "-"], ["*", "/", "%"]]


def tokens_of(source):
    found, at = [], 0
    source = source.rstrip()
    while at < len(source):
        match = TOKEN.match(source, at)
        if not match:
            raise SyntaxError(f"unknown text in expression at {at}: {source}")
        found.append((match.lastgroup, match.group(match.lastgroup)))
        at = match.end()
    found.append(("end", ""))
    return found


class Parser:
    def __init__(self, source):
        self.source, self.tokens, self.at = source, tokens_of(source), 0

    def peek(self):
        return self.tokens[self.at]

    def take(self, text=None):
        token = self.tokens[self.at]
        if text is not None and token[1] != text:
            raise SyntaxError(f"expected {text}, found {token[1]!r}: {self.source}")
        self.at += 1
        return token

    def accept(self, text):
        if self.peek()[1] == text and self.peek()[0] in ("op", "name"):
            self.at += 1
            return True
        return False

    def whole(self):
        node = self.ternary()
        if self.peek()[0] != "end":
            raise SyntaxError(f"text after the expression: {self.source}")
        return node

    def ternary(self):
        node = self.binary(0)
        if self.accept("?"):
            then = self.binary(0)
            self.take(":")
            return ("if", node, then, self.ternary())
        return node

    def binary(self, level):
        if level == len(LEVELS):
            return self.unary()
        node = self.binary(level + 1)
        while self.peek()[1] in LEVELS[level] and self.peek()[0] in ("op", "name"):
            operator = self.take()[1]
            node = ("binary", operator, node, self.binary(level + 1))
        return node

    def unary(self):
        if self.accept("!"):
            return ("not", self.unary())
        if self.accept("-"):
            return ("negate", self.unary())
        return self.member()

    def member(self):
        node = self.primary()
        while True:
            if self.accept("."):
                node = ("field", node, self.take()[1])
            elif self.accept("["):
                node = ("index", node, self.ternary())
                self.take("]")
            else:
                return node

    def items(self, end):
        found = []
        while not self.accept(end):
            found.append(self.ternary())
            if not self.accept(","):
                self.take(end)
                break
        return found

    def primary(self):
        kind, text = self.take()
        if kind == "int":
            return ("literal", int(text))
        if kind == "text":
            return ("literal", unquote(text))
        if text == "(":
            node = self.ternary()
            self.take(")")
            return node
        if text == "[":
            return ("list", self.items("]"))
        if kind == "name":
            if text in ("true", "false", "null"):
                return ("literal", {"true": True, "false": False, "null": None}[text])
            if self.accept("("):
                return ("call", text, self.items(")"))
            return ("name", text)
        raise SyntaxError(f"unexpected {text!r}: {self.source}")


def unquote(text):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), text[1:-1])


@functools.lru_cache(maxsize=100_000)
def parse(source):
    return Parser(source).whole()


def overload(what):
    return Failure("expression", "no_such_overload", what)


def is_number(value):
    return type(value) in (int, float)


def equal(a, b):
    if is_number(a) and is_number(b):
        return a == b
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    return a == b


def checked(value):
    if type(value) is int and not INT_MIN <= value <= INT_MAX:
        raise Failure("expression", "overflow")
    return value


def arithmetic(operator, a, b):
    if operator == "+":
        for kind in (str, list):
            if type(a) is kind and type(b) is kind:
                return a + b
        if isinstance(a, Time) and isinstance(b, Span):
            return Time(a.ms + b.ms)
        if isinstance(a, Span) and isinstance(b, Span):
            return Span(a.ms + b.ms)
    if not (is_number(a) and is_number(b)):
        raise overload(f"{operator} of {a!r} and {b!r}")
    if operator == "+":
        return checked(a + b)
    if operator == "-":
        return checked(a - b)
    if operator == "*":
        return checked(a * b)
    if type(a) is int and type(b) is int:
        if b == 0:
            raise Failure("expression", "divide_by_zero")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return checked(quotient) if operator == "/" else a - quotient * b
    if operator == "/":
        return a / b
    raise overload(operator)


def compare(operator, a, b):
    same = type(a) is type(b) and isinstance(a, (str, bool, Time, Span))
    if not same and not (is_number(a) and is_number(b)):
        raise overload(f"{operator} of {a!r} and {b!r}")
    if isinstance(a, (Time, Span)):
        a, b = a.ms, b.ms
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def contains(item, among):
    if isinstance(among, list):
        return any(equal(item, one) for one in among)
    if isinstance(among, dict):
        return any(equal(item, one) for one in among)
    raise overload("in")


def logical(operator, left, right, names):
    """`&&` and `||` give their deciding value even when the other side is an error."""
    decides = operator == "||"
    failure = None
    for side in (left, right):
        try:
            value = evaluate(side, names)
            if type(value) is not bool:
                raise overload(operator)
            if value == decides:
                return decides
        except Failure as error:
            failure = failure or error
    if failure:
        raise failure
    return not decides


def field_of(value, name):
    if value is None:
        raise Failure("expression", "no_such_key", name)  # rule V6: null has no keys
    if not isinstance(value, dict):
        raise overload(f"field {name} of {value!r}")
    if name not in value:
        raise Failure("expression", "no_such_key", name)
    return value[name]


def call(name, arguments, names):
    if name == "has":
        holder = evaluate(arguments[0][1], names)
        if not isinstance(holder, dict):
            raise overload("has")
        return arguments[0][2] in holder
    values = [evaluate(argument, names) for argument in arguments]
    first = values[0] if values else None
    if name == "string":
        if type(first) is bool:
            return "true" if first else "false"
        if type(first) in (int, str):
            return str(first)
        if isinstance(first, (Time, Span)):
            return first.text()
        raise overload("string")
    if name == "size" and isinstance(first, (str, list, dict)):
        return len(first)
    if name == "duration" and type(first) is str:
        return parse_span(first)
    if name == "timestamp" and type(first) is str:
        return parse_time(first)
    raise overload(name)


def evaluate(node, names):
    kind = node[0]
    if kind == "literal":
        return node[1]
    if kind == "name":
        if node[1] not in names:
            raise KeyError(f"the name {node[1]} is not in scope; the definition should have been refused")
        return names[node[1]]
    if kind == "field":
        return field_of(evaluate(node[1], names), node[2])
    if kind == "list":
        return [evaluate(item, names) for item in node[1]]
    if kind == "call":
        return call(node[1], node[2], names)
    if kind == "if":
        condition = evaluate(node[1], names)
        if type(condition) is not bool:
            raise overload("?:")
        return evaluate(node[2] if condition else node[3], names)
    if kind == "not":
        value = evaluate(node[1], names)
        if type(value) is not bool:
            raise overload("!")
        return not value
    if kind == "negate":
        value = evaluate(node[1], names)
        if not is_number(value):
            raise overload("-")
        return checked(-value)
    if kind == "index":
        value, at = evaluate(node[1], names), evaluate(node[2], names)
        if isinstance(value, dict):
            return field_of(value, at)
        if not isinstance(value, list) or type(at) is not int:
            raise overload("[]")
        if not 0 <= at < len(value):
            raise Failure("expression", "index_out_of_range")
        return value[at]
    operator, left, right = node[1:]
    if operator in ("&&", "||"):
        return logical(operator, left, right, names)
    a, b = evaluate(left, names), evaluate(right, names)
    if operator == "==":
        return equal(a, b)
    if operator == "!=":
        return not equal(a, b)
    if operator == "in":
        return contains(a, b)
    if operator in ("<", "<=", ">", ">="):
        return compare(operator, a, b)
    return arithmetic(operator, a, b)


def condition(expression, names):
    """A condition position: `{"$expr": …}`, which must give a bool (rule V3)."""
    value = evaluate(parse(expression["$expr"]), names)
    if type(value) is not bool:
        raise Failure("expression", "not_boolean")
    return value


def raw_value(template, names):
    """A value position whose whole is kept as it is: durations and times stay what they are."""
    if isinstance(template, dict) and set(template) == {"$expr"}:
        return evaluate(parse(template["$expr"]), names)
    return value(template, names)


def value(template, names):
    """A value position, as the JSON that is stored (rule V4)."""
    if isinstance(template, dict):
        if set(template) == {"$expr"}:
            return stored(evaluate(parse(template["$expr"]), names))
        if set(template) == {"$literal"}:
            return template["$literal"]
        return {key: value(template[key], names) for key in sorted(template)}
    if isinstance(template, list):
        return [value(item, names) for item in template]
    return template


def stored(given):
    if isinstance(given, (Time, Span)):
        return given.text()
    if isinstance(given, list):
        return [stored(item) for item in given]
    if isinstance(given, dict):
        return {key: stored(item) for key, item in given.items()}
    return given
