// Resolves names, deduces types and reports expressions that cannot work.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expr/expression.h"
#include "expr/function.h"
#include "expr/options.h"
#include "expr/syntax.h"
#include "expr/unification.h"

namespace cairn::expr {

// What the checker knows about one node.
struct Meaning {
  enum class Is : std::uint8_t {
    plain,
    variable,   // number is the slot of the environment
    local,      // number is the slot of the frame
    type_name,  // text is the name
    function,   // of a call; with `qualified` the receiver is a namespace, not an argument
    secret,
    unknown,  // fails when evaluated; text is the reason
  };
  Is is = Is::plain;
  bool qualified = false;
  std::uint32_t number = 0;  // of loop, bind, keyed, optional_map, block: the first slot
  const Function* function = nullptr;
  std::string text;
  std::string code;
  Type type;
};

class Checker {
 public:
  Checker(const Tree& tree, const Environment& environment, const Options& options);

  // Answers the meanings by node. The tree may be compiled only if `faults()` is empty.
  const std::vector<Meaning>& run();
  std::vector<Fault>& faults() { return faults_; }
  std::uint32_t slots() const { return slots_max_; }
  Type type_of(NodeId id) { return types_.finished(meanings_[id].type); }

 private:
  struct Local {
    std::string_view name;
    Type type;
    std::uint32_t slot;
  };

  Type check(NodeId id);
  Type check_name(NodeId id, const Node& node);
  Type check_select(NodeId id, const Node& node);
  Type select_from(const Type& type, const Node& node);
  Type check_index(NodeId id, const Node& node);
  Type index_into(const Type& type, const Type& index, const Node& node);
  Type check_call(NodeId id, const Node& node);
  Type check_arguments(NodeId id, const Node& node, const Function& function, std::span<const NodeId> args,
                       bool member);
  Type check_secret(NodeId id, const Node& node);
  Type check_list(const Node& node);
  Type check_map(const Node& node);
  Type check_loop(NodeId id, const Node& node);
  Type check_bind(NodeId id, const Node& node);
  Type check_optional_map(NodeId id, const Node& node);
  Type check_keyed(NodeId id, const Node& node);
  Type check_block(NodeId id, const Node& node);
  Type check_conditional(const Node& node);
  Type check_arithmetic(const Node& node);
  Type check_comparison(const Node& node);
  Type check_membership(const Node& node);
  Type check_negate(const Node& node);
  void require_bool(NodeId id, const char* where);
  std::optional<Type> operator_result(std::string_view function, std::span<const Type> args);

  bool resolve_qualified(NodeId id, const Node& node);
  std::optional<std::uint32_t> find_variable(std::string_view name) const;
  const Function* find(std::string_view name) const;
  const Function* find_in_container(const std::string& name, bool absolute) const;
  bool chain_of_names(NodeId id, std::string& name, bool& absolute) const;
  const Local* find_local(std::string_view name) const;
  Type unknown(NodeId id, std::string code, std::string message);
  void report(const Node& node, std::string code, std::string message);
  std::uint32_t reserve(std::uint32_t count);
  std::vector<std::string> names_in_scope() const;

  const Tree& tree_;
  const Environment& environment_;
  const Options& options_;
  Unification types_;
  std::vector<Meaning> meanings_;
  std::vector<Local> locals_;
  std::vector<Fault> faults_;
  std::uint32_t slots_ = 0;
  std::uint32_t slots_max_ = 0;
  bool dotted_variables_ = false;
};

}  // namespace cairn::expr
