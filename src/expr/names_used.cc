#include "expr/names_used.h"

#include <algorithm>

#include "expr/parser.h"

namespace cairn::expr {

namespace {

class Reader {
 public:
  Reader(const Tree& tree, const Code& code) : tree_(tree), code_(code) {}

  Reading read() {
    visit(tree_.root, false);
    const auto tidy = [](auto& list) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    tidy(result_.functions);
    tidy(result_.secrets);
    tidy(result_.references);
    return std::move(result_);
  }

 private:
  bool is_local(std::string_view name) const {
    return std::find(locals_.begin(), locals_.end(), name) != locals_.end();
  }

  // The part that a node adds to a path: the member's name, if it is a literal.
  std::optional<std::string_view> step_of(const Node& node) const {
    if (node.kind == NodeKind::select) return node.text;
    if (node.kind != NodeKind::index) return std::nullopt;
    const Node& key = tree_.child_at(node, 1);
    if (key.kind != NodeKind::literal || !tree_.constants[key.constant].is(Value::Kind::string)) return std::nullopt;
    return tree_.constants[key.constant].as_text();
  }

  // Records the path that ends in this node; false if it does not begin with a variable.
  bool record_path(NodeId id, bool tested) {
    std::vector<std::string> path;
    bool optional = tested;
    NodeId at = id;
    for (;;) {
      const Node& node = tree_.at(at);
      if (node.kind == NodeKind::name) break;
      const auto step = step_of(node);
      if (!step) return false;
      optional = optional || node.optional || node.test;
      path.emplace_back(*step);
      at = tree_.child(node, 0);
    }
    const Node& root = tree_.at(at);
    if (!root.absolute && is_local(root.text)) return true;
    std::reverse(path.begin(), path.end());
    // The longest variable name takes precedence, as in the checker.
    std::string name(root.text);
    std::string longest;
    std::size_t taken = 0;
    const auto known = [&](const std::string& candidate) {
      return std::find(code_.variables.begin(), code_.variables.end(), candidate) != code_.variables.end();
    };
    if (known(name)) longest = name;
    for (std::size_t i = 0; i < path.size(); ++i) {
      name += "." + path[i];
      if (known(name)) {
        longest = name;
        taken = i + 1;
      }
    }
    if (longest.empty()) return true;
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(taken));
    result_.references.push_back({longest, std::move(path), root.offset, optional});
    return true;
  }

  void visit(NodeId id, bool tested) {
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case NodeKind::name:
      case NodeKind::select:
        if (!record_path(id, tested)) visit(tree_.child(node, 0), tested);
        return;
      case NodeKind::index:
        if (record_path(id, tested)) return;
        break;
      case NodeKind::call: return visit_call(node);
      case NodeKind::loop: {
        visit(tree_.child(node, 0), false);
        const std::size_t outer = locals_.size();
        locals_.push_back(node.text);
        if (!node.second.empty()) locals_.push_back(node.second);
        for (std::uint32_t i = 1; i < node.count; ++i) visit(tree_.child(node, i), false);
        locals_.resize(outer);
        return;
      }
      case NodeKind::keyed:
        result_.functions.emplace_back(node.text);
        visit(tree_.child(node, 0), false);
        locals_.push_back("@keyed");
        visit(tree_.child(node, 1), false);
        locals_.pop_back();
        return;
      case NodeKind::bind:
      case NodeKind::optional_map:
        visit(tree_.child(node, 0), false);
        locals_.push_back(node.text);
        visit(tree_.child(node, 1), false);
        locals_.pop_back();
        return;
      default: break;
    }
    for (const NodeId child : tree_.children(node)) visit(child, false);
  }

  bool chain(NodeId id, std::string& name) const {
    const Node& node = tree_.at(id);
    if (node.kind == NodeKind::name) {
      name = node.text;
      return !is_local(node.text);
    }
    if (node.kind != NodeKind::select || node.optional || node.test || !chain(tree_.child(node, 0), name)) return false;
    name += "." + std::string(node.text);
    return true;
  }

  void visit_call(const Node& node) {
    auto args = tree_.children(node);
    std::string name(node.text);
    if (node.member) {
      std::string qualified;
      if (chain(args[0], qualified) && find_function(qualified + "." + name)) {
        name = qualified + "." + name;
        args = args.subspan(1);
      }
    } else if (name == "secret" && node.count == 1) {
      const Node& literal = tree_.child_at(node, 0);
      if (literal.kind == NodeKind::literal && tree_.constants[literal.constant].is(Value::Kind::string)) {
        result_.secrets.emplace_back(tree_.constants[literal.constant].as_text());
      }
    }
    result_.functions.push_back(std::move(name));
    for (const NodeId arg : args) visit(arg, false);
  }

  const Tree& tree_;
  const Code& code_;
  std::vector<std::string_view> locals_;
  Reading result_;
};

}  // namespace

Reading read_expression(const Code& code) {
  const auto tree = parse(code.text);
  if (!tree) return {};
  return Reader(*tree, code).read();
}

}  // namespace cairn::expr
