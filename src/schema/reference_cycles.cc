// Rejects schemas that would validate the same value forever, such as {"$ref": "#"}, and chains of references that are
// too long for the stack.
#include <algorithm>

#include "schema/compiler.h"

namespace cairn::schema {
namespace {

constexpr std::uint32_t chain_max = 256;

// The nodes that `node` applies to the same value. $dynamicRef is left out, because its target depends on the
// evaluation path; the evaluation bounds its depth.
void append_same_value_nodes(const Compiled& compiled, NodeIndex node, std::vector<NodeIndex>& out) {
  const Node& from = compiled.nodes[node];
  for (std::uint32_t i = 0; i < from.rule_count; ++i) {
    const Rule& rule = compiled.rules[from.first_rule + i];
    switch (rule.op) {
      case Op::reference:
      case Op::negation:
      case Op::dependent_schema: out.push_back(rule.first); break;
      case Op::all_of:
      case Op::any_of:
      case Op::one_of:
        out.insert(out.end(), compiled.children.begin() + rule.first,
                   compiled.children.begin() + rule.first + static_cast<std::ptrdiff_t>(rule.count));
        break;
      case Op::condition: {
        const Condition& condition = compiled.conditions[rule.first];
        for (const NodeIndex next : {condition.test, condition.then, condition.otherwise}) {
          if (next != no_node) out.push_back(next);
        }
        break;
      }
      default: break;
    }
  }
}

}  // namespace

void Compiler::refuse_reference_cycles() {
  enum class State : std::uint8_t { fresh, open, done };
  struct Visit {
    NodeIndex node;
    std::size_t next, end;  // the slice of `edges` to follow
  };
  std::vector<State> states(compiled_->nodes.size(), State::fresh);
  std::vector<std::uint32_t> lengths(compiled_->nodes.size(), 0);
  std::vector<Visit> open;
  std::vector<NodeIndex> edges;
  const auto enter = [&](NodeIndex node) {
    states[node] = State::open;
    const std::size_t begin = edges.size();
    append_same_value_nodes(*compiled_, node, edges);
    open.push_back({node, begin, edges.size()});
  };
  for (NodeIndex start = 0; start < compiled_->nodes.size() && !faults_.full(); ++start) {
    if (states[start] != State::fresh) continue;
    enter(start);
    while (!open.empty()) {
      Visit& visit = open.back();
      if (visit.next < visit.end) {
        const NodeIndex target = edges[visit.next++];
        if (states[target] == State::open) {
          faults_.add(index_->pointer_of(places_[visit.node]),
                      "this schema leads back to itself without going into the data, so it would never end");
        } else if (states[target] == State::fresh) {
          enter(target);
        } else {
          lengths[visit.node] = std::max(lengths[visit.node], lengths[target] + 1);
        }
        continue;
      }
      const NodeIndex left = visit.node;
      states[left] = State::done;
      open.pop_back();
      edges.resize(open.empty() ? 0 : open.back().end);
      if (!open.empty()) {
        std::uint32_t& length = lengths[open.back().node];
        length = std::max(length, lengths[left] + 1);
      }
      if (lengths[left] == chain_max) {
        faults_.add(
            index_->pointer_of(places_[left]),
            "this schema leads through more than " + std::to_string(chain_max) + " others without going into the data");
      }
    }
  }
}

}  // namespace cairn::schema
