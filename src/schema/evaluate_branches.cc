#include <algorithm>

#include "schema/evaluation.h"
#include "schema/messages.h"

namespace cairn::schema {
namespace {

// Whether the value has another type than the branch expects. Further violations of that branch are not useful then.
bool is_another_sort(const Report& report, const std::string& pointer) {
  return std::any_of(report.found.begin(), report.found.end(), [&](const Violation& violation) {
    return violation.pointer == pointer && (violation.keyword == "type" || violation.keyword == "false");
  });
}

}  // namespace

bool Evaluation::all_hold(const Rule& rule, const Json& data, const Path& path, Seen* seen) {
  bool all = true;
  for (std::uint64_t i = 0; i < rule.count; ++i) {
    if (fits(compiled_.children[rule.first + i], data, path, seen)) continue;
    all = false;
    if (!collects_more()) break;
  }
  return all;
}

bool Evaluation::any_holds(const Rule& rule, const Json& data, const Path& path, Seen* seen) {
  bool any = false;
  {
    const Silence silence(*this);
    for (std::uint64_t i = 0; i < rule.count && (seen || !any); ++i) {
      Seen branch(seen ? data.size() : 0);
      if (!fits(compiled_.children[rule.first + i], data, path, seen ? &branch : nullptr)) continue;
      any = true;
      if (seen) seen->merge(branch);
    }
  }
  if (!any && report_) explain_branches(rule, data, path);
  return any;
}

bool Evaluation::one_holds(const Rule& rule, const Json& data, const Path& path, Seen* seen) {
  std::uint64_t fitting = 0, first = 0, second = 0;
  {
    const Silence silence(*this);
    for (std::uint64_t i = 0; i < rule.count && fitting < 2; ++i) {
      Seen branch(seen ? data.size() : 0);
      if (!fits(compiled_.children[rule.first + i], data, path, seen ? &branch : nullptr)) continue;
      (fitting == 0 ? first : second) = i;
      ++fitting;
      if (seen) seen->merge(branch);
    }
  }
  if (fitting == 1) return true;
  if (!report_) return false;
  if (fitting == 0) {
    explain_branches(rule, data, path);
    return false;
  }
  return refuse(path, "oneOf",
                "must fit exactly one of the " + std::to_string(rule.count) +
                    " alternatives of `oneOf`, but fits numbers " + std::to_string(first + 1) + " and " +
                    std::to_string(second + 1));
}

bool Evaluation::negation_holds(NodeIndex node, const Json& data, const Path& path) {
  const bool fit = [&] {
    const Silence silence(*this);
    return fits(node, data, path, nullptr);
  }();
  if (fit && report_) refuse(path, "not", "must not fit the schema under `not`");
  return !fit;
}

bool Evaluation::condition_holds(const Condition& condition, const Json& data, const Path& path, Seen* seen) {
  const bool met = [&] {
    const Silence silence(*this);
    Seen branch(seen ? data.size() : 0);
    const bool fit = fits(condition.test, data, path, seen ? &branch : nullptr);
    if (fit && seen) seen->merge(branch);
    return fit;
  }();
  const NodeIndex next = met ? condition.then : condition.otherwise;
  return next == no_node || fits(next, data, path, seen);
}

// If only one alternative fits the type of the value, its violations are the best explanation. Otherwise the
// alternative with the fewest violations is quoted.
void Evaluation::explain_branches(const Rule& rule, const Json& data, const Path& path) {
  constexpr std::uint64_t explained_max = 50;
  Report* const outer = report_;
  const std::string pointer = pointer_of(path);
  std::vector<Violation> closest;
  std::uint64_t likely = 0;
  for (std::uint64_t i = 0; i < std::min(rule.count, explained_max); ++i) {
    Report inner{outer->violations_max, {}};
    report_ = &inner;
    fits(compiled_.children[rule.first + i], data, path, nullptr);
    report_ = outer;
    if (inner.found.empty() || is_another_sort(inner, pointer)) continue;
    ++likely;
    if (closest.empty() || inner.found.size() < closest.size()) closest = std::move(inner.found);
  }
  if (likely == 1 && rule.count <= explained_max) {
    for (Violation& violation : closest) report_->add(std::move(violation));
    return;
  }
  const bool one = rule.op == Op::one_of;
  std::string message = std::string("must fit ") + (one ? "exactly" : "at least") + " one of the " +
                        std::to_string(rule.count) + " alternatives of `" + (one ? "oneOf" : "anyOf") +
                        "`, but fits none";
  if (!closest.empty()) {
    message += "; the closest says: ";
    if (closest[0].pointer != pointer) message += closest[0].pointer + " ";
    message += closest[0].message;
  }
  report_->add({pointer, std::move(message), one ? "oneOf" : "anyOf"});
}

}  // namespace cairn::schema
