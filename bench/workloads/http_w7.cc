// W7 through the HTTP API: a task is created, found in the inbox, claimed and completed.
#include "workloads/definitions.h"
#include "workloads/http_load.h"
#include "workloads/rows.h"
#include "workloads/served.h"

namespace cairn::bench {

namespace {

// The progress of one client with its task.
struct TaskClient {
  enum class Stage { start, look, claim, complete };
  Stage stage = Stage::start;
  std::string instance = {};
  std::string task = {};

  HttpLoad::Request next(const std::string& order) const {
    switch (stage) {
      case Stage::start: return {"POST", "/v1/instances", order};
      case Stage::look: return {"GET", "/v1/tasks?instance=" + instance, ""};
      case Stage::claim: return {"POST", "/v1/tasks/" + task + "/assign", R"({"assignee":"grace"})"};
      case Stage::complete: break;
    }
    return {"POST", "/v1/tasks/" + task + "/complete", R"({"payload":{"approved":true}})"};
  }

  // Returns true if the workflow has ended and the next one begins.
  Result<bool> answered(int status, std::string_view text) {
    if (status / 100 != 2) return unexpected(status, text);
    CAIRN_TRY(const Json answer, parse_json(text));
    switch (stage) {
      case Stage::start:
        instance = std::string(answer.text_or("id", ""));
        stage = Stage::look;
        return instance.empty() ? unexpected(status, text) : Result<bool>(false);
      case Stage::look:
        if (!answer["items"].is_array() || answer["items"].size() != 1) return unexpected(status, text);
        task = std::string(answer["items"].items()[0].text_or("id", ""));
        stage = Stage::claim;
        return false;
      case Stage::claim: stage = Stage::complete; return false;
      case Stage::complete: break;
    }
    if (answer.text_or("status", "") != "completed") return unexpected(status, text);
    *this = {};
    return true;
  }
};

}  // namespace

Result<std::vector<Row>> run_http_w7(const Plan& plan) {
  std::vector<Row> rows;
  const std::string order = write_json(Json::object({{"definition", "one-task"}, {"input", order_input()}}));
  for (const int outstanding : plan.outstanding) {
    plan.progress("http-W7, " + std::to_string(outstanding) + " outstanding");
    CAIRN_TRY(Row row, median_of(plan, [&]() -> Result<Row> {
                CAIRN_TRY(const Served server, Served::with(plan, one_task));
                std::vector<TaskClient> clients(static_cast<std::size_t>(outstanding));
                HttpLoad load;
                load.host = server.host;
                load.port = server.port;
                load.next = [&](int i) { return clients[static_cast<std::size_t>(i)].next(order); };
                load.answered = [&](int i, int status, std::string_view text) {
                  return clients[static_cast<std::size_t>(i)].answered(status, text);
                };
                std::optional<Shares> shares;
                load.measuring = [&] { shares.emplace(server.process.id(), 0); };
                CAIRN_TRY(Row one, load.run(plan, outstanding));
                shares->add_to(one);
                return one;
              }));
    row.workload = "http-W7";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace cairn::bench
