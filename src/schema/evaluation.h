// Validates one value against a compiled schema.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/compiled.h"
#include "schema/schema.h"
#include "schema/seen.h"

namespace cairn::schema {

// The path from the data's root to a value, linked through the stack. It is written out only for violations.
struct Path {
  const Path* up = nullptr;
  const Text* key = nullptr;  // null: an item of an array, `index`
  std::size_t index = 0;
};
std::string pointer_of(const Path& path);

// Violations up to a bound, each once.
struct Report {
  std::size_t violations_max;
  std::vector<Violation> found;

  bool full() const { return found.size() >= violations_max; }
  void add(Violation violation);
};

// Appends the violation of a rule that depends on the value alone, without the pointer.
void describe(const Compiled& compiled, const Rule& rule, const Json& data, std::vector<Violation>& out);

// Use it once. Depth and work are bounded, so no schema can exhaust the stack or run for long.
class Evaluation {
 public:
  // Without a report, evaluation stops at the first violation.
  Evaluation(const Compiled& compiled, Report* report) : compiled_(compiled), report_(report) {}

  bool run(const Json& data);
  // Not empty: a bound was exceeded, and `run` answered false for that reason.
  std::string_view gave_up() const { return gave_up_; }

 private:
  // The resources entered on the path to the current schema, for $dynamicRef.
  struct Scope {
    const Scope* outer;
    ResourceIndex resource;
  };
  class Silence;

  bool fits(NodeIndex index, const Json& data, const Path& path, Seen* seen);
  bool fits_tracking(const Node& node, const Json& data, const Path& path, Seen* seen);
  bool rules_hold(const Node& node, const Json& data, const Path& path, Seen* seen);
  bool value_holds(const Rule& rule, const Json& data);
  bool schemas_hold(const Rule& rule, const Json& data, const Path& path, Seen* seen);

  bool members_hold(const MemberRules& rules, const Json& data, const Path& path, Seen* seen);
  bool named_members_hold(const MemberRules& rules, const Json& data, const Path& path, Seen* seen);
  bool names_hold(NodeIndex node, const Json& data, const Path& path);
  bool unevaluated_members_hold(NodeIndex node, const Json& data, const Path& path, Seen& seen);
  bool items_hold(const ItemRules& rules, const Json& data, const Path& path, Seen* seen);
  bool contains_holds(const ContainsRule& rule, const Json& data, const Path& path, Seen* seen);
  bool unevaluated_items_hold(NodeIndex node, const Json& data, const Path& path, Seen& seen);

  bool all_hold(const Rule& rule, const Json& data, const Path& path, Seen* seen);
  bool any_holds(const Rule& rule, const Json& data, const Path& path, Seen* seen);
  bool one_holds(const Rule& rule, const Json& data, const Path& path, Seen* seen);
  bool negation_holds(NodeIndex node, const Json& data, const Path& path);
  bool condition_holds(const Condition& condition, const Json& data, const Path& path, Seen* seen);
  NodeIndex dynamic_target(const DynamicReference& reference);

  void explain_value(const Rule& rule, const Json& data, const Path& path);
  void explain_branches(const Rule& rule, const Json& data, const Path& path);
  void explain_name(NodeIndex node, const Json& name, const Path& path);
  bool refuse(const Path& path, std::string_view keyword, std::string message);
  bool refuse_member(const MemberRules* rules, const Path& path, std::string_view keyword);

  // Whether to search for further violations after one was found.
  bool collects_more() const { return report_ && !report_->full(); }
  void spend(std::uint64_t steps);

  const Compiled& compiled_;
  Report* report_;
  const Scope* scope_ = nullptr;
  int depth_ = 0;
  std::uint64_t steps_ = 0;
  std::string_view gave_up_;
};

// While it exists, violations are not reported, and evaluation stops at the first one.
class Evaluation::Silence {
 public:
  explicit Silence(Evaluation& evaluation) : evaluation_(evaluation), report_(evaluation.report_) {
    evaluation_.report_ = nullptr;
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() { evaluation_.report_ = report_; }

 private:
  Evaluation& evaluation_;
  Report* report_;
};

}  // namespace cairn::schema
