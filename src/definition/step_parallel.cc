#include <map>

#include "definition/names.h"
#include "definition/step_kinds.h"

namespace cairn {
namespace {

const Key branch_keys[] = {
    {"name", Shape::branch_name, "Names the branch.", true},
    {"steps", Shape::steps, "What it does.", true},
};
const KeyTable branch_table{"branch", branch_keys};

constexpr std::string_view four_eyes_choices[] = {"all"};

const Key parallel_keys[] = {
    {"branches", Shape::branches, "The strands, by name.", true, std::nullopt, &branch_table},
    {"join", Shape::join, "How many must end: `all`, `any` or a number. The rest is cancelled.", false, Json("all")},
    {"four_eyes", Shape::choice, "`all`: one person completes at most one of the tasks in the branches.", false,
     std::nullopt, nullptr, four_eyes_choices},
};
const KeyTable parallel_table{"parallel", parallel_keys};

const Key parallel_step_keys[] = {
    {"parallel", Shape::object, "Strands that wait independently.", true, std::nullopt, &parallel_table},
};

void add(ParallelStep& step, Json::Array& written, const std::string& name, BlockIndex block, Json steps) {
  step.branches.push_back({name, block});
  written.push_back(Json::object({{"name", name}, {"steps", std::move(steps)}}));
}

void read_object(Fields& fields, const Cursor& at, ParallelStep& step, Json::Array& written) {
  Draft& draft = fields.site().draft;
  for (const SourceMember& member : at.node().members) {
    if (const auto fault = name_fault(Shape::branch_name, member.key, draft.limits)) {
      draft.findings.error(member.key_at, at.pointer_to(member.key), "a branch's name " + *fault);
    }
    const Cursor list = at.member(member);
    if (list.node().kind != Json::Kind::array) {
      draft.error(list, "a branch is a list of steps, not " + describe(list.node()));
      continue;
    }
    Json steps;
    const BlockIndex block = read_steps(fields.site(), list, "parallel." + member.key, steps);
    add(step, written, member.key, block, std::move(steps));
  }
}

void read_list(Fields& fields, const Cursor& at, ParallelStep& step, Json::Array& written) {
  std::map<std::string, int> lines;
  for (std::size_t i = 0; i < at.node().items.size(); ++i) {
    const Cursor item = at.item(i);
    Fields entry(fields.site(), item, branch_table);
    const std::string name = entry.text("name").value_or("branch" + std::to_string(i));
    if (const auto named = entry.find("name")) {
      const auto [first, fresh] = lines.try_emplace(name, named->at().line);
      if (!fresh) {
        fields.site().draft.error(
            *named, "another branch has the name `" + name + "` already, on line " + std::to_string(first->second));
      }
    }
    const BlockIndex block = entry.steps("steps", "parallel." + name);
    add(step, written, name, block, entry.take()["steps"]);
  }
}

void read_join(Fields& fields, ParallelStep& step, std::size_t count) {
  step.join = count;
  const auto at = fields.find("join");
  if (!at) {
    fields.put("join", "all");
    return;
  }
  const SourceNode& node = at->node();
  if (node.kind == Json::Kind::string && node.scalar.as_string() == "all") {
    fields.put("join", "all");
  } else if (node.kind == Json::Kind::string && node.scalar.as_string() == "any") {
    fields.put("join", "any");
    step.join = 1;
  } else if (node.kind != Json::Kind::integer) {
    fields.site().draft.error(*at, "`join` is `all`, `any` or a number of branches, not " + describe(node));
  } else if (const std::int64_t wanted = node.scalar.as_integer();
             wanted < 1 || wanted > static_cast<std::int64_t>(count)) {
    fields.site().draft.error(*at, "`join: " + std::to_string(wanted) +
                                       "` can never be met; it goes from 1 to the number of branches, " +
                                       std::to_string(count));
  } else {
    fields.put("join", wanted);
    step.join = static_cast<std::size_t>(wanted);
  }
}

StepBody read_parallel(Fields& outer) {
  ParallelStep step;
  const auto at = outer.find("parallel");
  if (!at) return step;
  Fields fields(outer.site(), *at, parallel_table);
  std::size_t count = 0;
  if (const auto branches = fields.find("branches")) {
    const SourceNode& node = branches->node();
    count = node.members.size() + node.items.size();
    Json::Array written;
    if (node.kind == Json::Kind::object) {
      read_object(fields, *branches, step, written);
    } else if (node.kind == Json::Kind::array) {
      read_list(fields, *branches, step, written);
    } else {
      outer.site().draft.error(*branches,
                               "`branches` takes an object of lists of steps by name, not " + describe(node));
    }
    const bool container = node.kind == Json::Kind::object || node.kind == Json::Kind::array;
    if (container && count == 0) outer.site().draft.error(*branches, "`branches` may not be empty");
    fields.put("branches", Json(std::move(written)));
  }
  // Without branches, an error about `join` would mislead.
  if (count > 0) read_join(fields, step, count);
  step.four_eyes = fields.choice("four_eyes").has_value();
  outer.put("parallel", fields.take());
  return step;
}

}  // namespace

const StepKind parallel_kind{"parallel", "Strands that wait independently.", parallel_step_keys, read_parallel};

}  // namespace cairn
