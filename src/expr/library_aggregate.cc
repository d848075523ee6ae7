#include <limits>

#include "expr/decimal_value.h"
#include "expr/function.h"

namespace cairn::expr {

namespace {

using Kind = Value::Kind;

Value refuse_kind(Context& context, std::string_view what, const Value& item) {
  return context.fail("no_such_overload", std::string(what) + " cannot take a " + std::string(describe(item.kind())));
}

// Sums the numbers of one list. Integers stay exact if the list has only integers. With a double, all become doubles,
// in list order. With a decimal, all must be exact.
class Total {
 public:
  bool add(Context& context, const Value& item) {
    switch (item.kind()) {
      case Kind::integer: return add_whole(context, item.as_integer(), item);
      case Kind::unsigned_integer: return add_whole(context, item.as_unsigned(), item);
      case Kind::number:
        if (decimals_) return mixed(context);
        if (!numbers_) number_ = static_cast<double>(whole_);
        numbers_ = true;
        number_ += item.as_number();
        return true;
      case Kind::decimal: {
        if (numbers_) return mixed(context);
        if (!decimals_ && !begin_decimals(context)) return false;
        return add_decimal(context, as_decimal(item));
      }
      default: refuse_kind(context, "a sum of numbers", item); return false;
    }
  }

  Value sum(Context& context) const {
    if (decimals_) return decimal_value(context, exact_);
    if (numbers_) return Value::number(number_);
    if (whole_ > std::numeric_limits<std::int64_t>::max() || whole_ < std::numeric_limits<std::int64_t>::min()) {
      return context.fail("overflow", "the sum is beyond 64-bit integers");
    }
    return Value::integer(static_cast<std::int64_t>(whole_));
  }

  Value average(Context& context, std::size_t count) const {
    if (decimals_) return decimal_value(context, exact_.divided_by(Decimal::of(static_cast<std::uint64_t>(count))));
    return Value::number((numbers_ ? number_ : static_cast<double>(whole_)) / static_cast<double>(count));
  }

 private:
  bool add_whole(Context& context, __int128 value, const Value& item) {
    if (decimals_) return add_decimal(context, *to_decimal(item));
    if (numbers_) {
      number_ += static_cast<double>(value);
    } else {
      whole_ += value;  // an overflow would need 2^63 items of 64 bits
    }
    return true;
  }
  bool add_decimal(Context& context, const Decimal& value) {
    auto sum = exact_ + value;
    if (!sum.has_value()) {
      context.fail("overflow", sum.error().message);
      return false;
    }
    exact_ = *std::move(sum);
    return true;
  }
  bool begin_decimals(Context& context) {
    decimals_ = true;
    if (whole_ > std::numeric_limits<std::int64_t>::max() || whole_ < std::numeric_limits<std::int64_t>::min()) {
      context.fail("overflow", "the sum is beyond 64-bit integers");
      return false;
    }
    exact_ = Decimal::of(static_cast<std::int64_t>(whole_));
    return true;
  }
  static bool mixed(Context& context) {
    context.fail("no_such_overload", "decimals and doubles cannot be added up together; doubles are not exact");
    return false;
  }

  __int128 whole_ = 0;
  double number_ = 0;
  Decimal exact_;
  bool numbers_ = false;
  bool decimals_ = false;
};

Value sum_durations(Context& context, const Value& list) {
  Duration total;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value item = list.item(i);
    if (!item.is(Kind::duration)) return refuse_kind(context, "a sum of durations", item);
    const auto next = add(total, item.as_duration());
    if (!next) return context.fail("overflow", "the sum is longer than durations can be");
    total = *next;
  }
  return Value::duration(total);
}

Value sum(Context& context, std::span<Value> args) {
  const Value& list = args[0];
  if (!context.spend_steps(list.size())) return context.error();
  if (list.size() > 0 && list.item(0).is(Kind::duration)) return sum_durations(context, list);
  Total total;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!total.add(context, list.item(i))) return context.error();
  }
  return total.sum(context);
}

Value average(Context& context, std::span<Value> args) {
  const Value& list = args[0];
  if (list.size() == 0) return context.fail("invalid_argument", "an empty list has no average");
  if (!context.spend_steps(list.size())) return context.error();
  Total total;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!total.add(context, list.item(i))) return context.error();
  }
  return total.average(context, list.size());
}

// The position of the first item that is smallest (direction -1) or largest (1).
std::optional<std::size_t> find_extreme(Context& context, const Value& keys, int direction) {
  if (keys.size() == 0) {
    context.fail("invalid_argument", "an empty list has no smallest or largest item");
    return std::nullopt;
  }
  if (!context.spend_steps(keys.size())) return std::nullopt;
  std::size_t best = 0;
  Value best_key = keys.item(0);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Value key = keys.item(i);
    const auto order = compare(key, best_key);
    if (!order) {
      context.fail("no_such_overload", "a " + std::string(describe(key.kind())) + " and a " +
                                           std::string(describe(best_key.kind())) + " have no order");
      return std::nullopt;
    }
    if (*order == direction) {
      best = i;
      best_key = key;
    }
  }
  return best;
}

template <int direction>
Value extreme(Context& context, std::span<Value> args) {
  const auto place = find_extreme(context, args[0], direction);
  return place ? args[0].item(*place) : context.error();
}

template <int direction>
Value extreme_by(Context& context, std::span<Value> args) {
  const auto place = find_extreme(context, args[1], direction);
  return place ? args[0].item(*place) : context.error();
}

constexpr Overload aggregate_overloads[] = {
    {"list(dyn).sum() -> dyn", sum,
     "The sum of numbers, decimals or durations; exact for whole numbers and decimals, 0 for an empty list.",
     R"([decimal("0.10"), decimal("0.20"), 3].sum())", R"(decimal("3.30"))"},
    {"list(dyn).avg() -> dyn", average,
     "The average of numbers as a double, of decimals as a decimal of at most 34 digits.", "[1, 2, 4, 5].avg()", "3.0"},
    {"list(T).min() -> T", extreme<-1>, "The smallest item of a list whose items have an order.", "[3, 1, 2].min()",
     "1"},
    {"list(T).max() -> T", extreme<1>, "The largest item of a list whose items have an order.",
     "[date(2024, 1, 1), date(2024, 3, 1)].max()", "date(2024, 3, 1)"},
    {"list(T).minBy(item, expression) -> T", extreme_by<-1>, "The first item for which the expression is smallest.",
     R"([{"n": "a", "price": 7}, {"n": "b", "price": 5}].minBy(x, x.price).n)", R"("b")", true},
    {"list(T).maxBy(item, expression) -> T", extreme_by<1>, "The first item for which the expression is largest.",
     R"(["pear", "fig", "plum"].maxBy(x, size(x)))", R"("pear")", true},
};

}  // namespace

Library library_aggregate() { return {"aggregate", aggregate_overloads}; }

}  // namespace cairn::expr
