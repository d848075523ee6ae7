// The cost of one step of one instance, while one property of the instance grows: its age, its state, its input, a list,
// its strands, tasks, children and kept signals. The step is always the same: a signal arrives, a member of 100 bytes
// changes, and the instance waits for the next signal.
#include <array>

#include "engine/core.h"
#include "workloads/rows.h"

namespace cairn::bench {

namespace {

constexpr std::string_view loop_steps = R"(
  - repeat:
      while: state.n >= 0
      max: 100000000
      steps:
        - signal: { name: go, result: answer }
        - set: { n: = state.n + 1 }
)";

std::string definition_of(const std::string& name, std::string_view steps) {
  return "cairn: 1\nname: " + name + "\nversion: 1.0.0\nstate: { n: 0, list: [] }\nsteps:" + std::string(steps);
}

constexpr std::string_view list_steps = R"(
  - repeat:
      while: state.n >= 0
      max: 100000000
      steps:
        - signal: { name: go, result: answer }
        - set: { n: = state.n + 1, list: "= state.list + [state.answer]" }
)";

constexpr std::string_view child_steps = R"(
  - signal: { name: never }
)";

// `count` branches that wait for `step`, and one that loops.
std::string branches_of(std::size_t count, const std::string& step) {
  std::string text = "\n  - parallel:\n      branches:\n        a:";
  std::string_view loop = loop_steps;
  while (!loop.empty()) {
    const std::size_t end = loop.find('\n');
    text += std::string(loop.substr(0, end)) + "\n        ";
    loop.remove_prefix(end + 1);
  }
  text += "\n";
  for (std::size_t i = 0; i < count; ++i) text += "        b" + std::to_string(i) + ": [ { " + step + " } ]\n";
  return text;
}

// Objects of about 100 bytes.
Json items_of(std::size_t count) {
  Json::Array items;
  items.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    items.push_back(Json::object({{"number", static_cast<std::int64_t>(i)},
                                  {"note", "one line of an order with a text of some length, as people write them"}}));
  }
  return Json::array(std::move(items));
}

// About `bytes` of JSON in objects of some hundred bytes.
Json data_of(std::size_t bytes) { return items_of(std::max<std::size_t>(1, bytes / 100)); }

struct Dimension {
  const char* name;
  std::vector<std::size_t> sizes;  // ascending
  // Makes an instance of that size, which waits for `go`.
  std::function<Result<InstanceId>(Engine&, std::size_t)> make;
};

Result<InstanceId> start_one(Engine& engine, const std::string& definition, const Json& input = Json::object()) {
  CAIRN_TRY(const InstanceAnswer begun, engine.start(request_for(definition, input)));
  CAIRN_TRY_VOID(expect(begun.status, Status::waiting));
  return begun.instance;
}

Json answer_of(std::size_t number) {
  return Json::object({{"number", static_cast<std::int64_t>(number)}, {"note", std::string(80, 'x')}});
}

Result<void> step(Engine& engine, const InstanceId& id, std::size_t number) {
  CAIRN_TRY(const InstanceAnswer after, engine.signal(id, "go", answer_of(number)));
  return expect(after.status, Status::waiting);
}

Result<InstanceId> with_state(Engine& engine, const char* definition, const Json& patch) {
  CAIRN_TRY(const InstanceId id, start_one(engine, definition));
  CAIRN_TRY_VOID(engine.edit(id, patch, {"bench", {{"operator"}}}, "bench"));
  return id;
}

Result<InstanceId> beside_branches(Engine& engine, const char* name, std::size_t count, const std::string& step) {
  const std::string definition = std::string(name) + "-" + std::to_string(count);
  CAIRN_TRY_VOID(engine.deploy(definition_of(definition, branches_of(count, step))));
  return start_one(engine, definition);
}

std::vector<Dimension> dimensions() {
  return {
      {"commits",
       {10, 100, 1'000, 10'000, 100'000},
       [](Engine& engine, std::size_t size) -> Result<InstanceId> {
         CAIRN_TRY(const InstanceId id, start_one(engine, "loop"));
         for (std::size_t i = 0; i < size; ++i) CAIRN_TRY_VOID(step(engine, id, i));
         return id;
       }},
      {"state bytes",
       {1'000, 10'000, 100'000, 900'000, 10'000'000, 60'000'000},
       [](Engine& engine, std::size_t size) {
         return with_state(engine, "loop", Json::object({{"data", data_of(size)}}));
       }},
      {"input bytes",
       {1'000, 10'000, 100'000, 900'000, 3'500'000, 15'000'000},
       [](Engine& engine, std::size_t size) {
         return start_one(engine, "loop", Json::object({{"data", data_of(size)}}));
       }},
      {"list items",
       {10, 100, 1'000, 10'000, 100'000},
       [](Engine& engine, std::size_t size) {
         return with_state(engine, "list", Json::object({{"list", items_of(size)}}));
       }},
      {"strands",
       {1, 10, 100, 999, 10'000},
       [](Engine& engine, std::size_t size) {
         return beside_branches(engine, "strands", size, "signal: { name: never }");
       }},
      {"open tasks",
       {1, 10, 100, 999},
       [](Engine& engine, std::size_t size) {
         return beside_branches(engine, "tasks", size, "task: { name: Look, roles: [clerk] }");
       }},
      {"children",
       {1, 10, 100, 999, 10'000},
       [](Engine& engine, std::size_t size) {
         return beside_branches(engine, "children", size, "subworkflow: { name: child }");
       }},
      {"kept signals of the instance",
       {1, 10, 100, 1'000},
       [](Engine& engine, std::size_t size) -> Result<InstanceId> {
         CAIRN_TRY(const InstanceId id, start_one(engine, "loop"));
         for (std::size_t i = 0; i < size; ++i) CAIRN_TRY_VOID(engine.signal(id, "later", answer_of(i)));
         return id;
       }},
      {"kept signals of the store",
       {1, 1'000, 10'000, 100'000},
       [](Engine& engine, std::size_t size) -> Result<InstanceId> {
         for (std::size_t i = 0; i < size; ++i) {
           CAIRN_TRY_VOID(engine.broadcast("kept", Json("K-" + std::to_string(i)), answer_of(i)));
         }
         return start_one(engine, "loop");
       }},
  };
}

Row refused_row(const Error& error) {
  Row row;
  row.extra.set("refused", error.message.substr(0, 200));
  return row;
}

Result<Row> measure(const Plan& plan, const Dimension& dimension, std::size_t size) {
  const std::string loop = definition_of("loop", loop_steps), list = definition_of("list", list_steps),
                    child = definition_of("child", child_steps);
  const std::array<std::string_view, 3> definitions{loop, list, child};
  Limits limits;
  limits.state_bytes_max = 64u << 20;
  limits.body_bytes_max = 16u << 20;
  limits.strands_max = 100'000;
  limits.buffered_signals_max = 100'000;
  limits.expression_bytes_max = 1u << 30;
  limits.definition_nodes_max = 1'000'000;
  if (plan.piece_bytes_min) limits.piece_bytes_min = *plan.piece_bytes_min;
  CAIRN_TRY(Stage stage, Stage::open(plan, definitions, limits));
  Engine& engine = *stage.engine;
  engine.run();
  const auto made = dimension.make(engine, size);
  if (!made) return refused_row(made.error());  // beyond a limit
  constexpr std::size_t warm_up = 20;
  const std::size_t steps = plan.scaled(300);
  std::size_t number = 0;
  for (; number < warm_up; ++number) {
    if (auto done = step(engine, *made, number); !done) return refused_row(done.error());
  }
  return each_once(steps, 1, [&](std::size_t) { return step(engine, *made, number++); });
}

}  // namespace

Result<std::vector<Row>> run_scale_instance(const Plan& plan) {
  std::vector<Row> rows;
  for (const Dimension& dimension : dimensions()) {
    // A short run leaves out the largest sizes.
    const auto largest = static_cast<double>(dimension.sizes.back()) * std::min(1.0, plan.scale * 10);
    for (const std::size_t size : dimension.sizes) {
      if (static_cast<double>(size) > largest && size != dimension.sizes.front()) continue;
      plan.progress("scale-instance, " + std::to_string(size) + " " + dimension.name);
      CAIRN_TRY(Row row, measure(plan, dimension, size));
      row.workload = "scale-instance";
      row.variant = dimension.name;
      row.extra.set("size", static_cast<std::int64_t>(size));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace cairn::bench
