// Starts of workflows beside 200 000 events that wait for sinks: without sinks and without events, with two sinks that
// never answer, and with two that refuse every connection. A backlog must not make starts slower.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>

#include "workloads/definitions.h"
#include "workloads/rows.h"
#include "workloads/scratch_schema.h"

namespace cairn::bench {

namespace {

constexpr std::size_t events_each = 500;

constexpr std::string_view emits_many = R"(
cairn: 1
name: emits-many
version: 1.0.0
state: { n: 0 }
steps:
  - repeat:
      times: 500
      steps:
        - emit: { type: bench.event, subject: '= "s" + string(state.n)', data: = state.n }
        - set: { n: = state.n + 1 }
)";

// A port of this machine. If it listens, connections are made and nothing is ever read from them; otherwise they are
// refused.
class Port {
 public:
  explicit Port(bool listens) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    CAIRN_ASSERT(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    CAIRN_ASSERT(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    if (listens) CAIRN_ASSERT(::listen(socket_, 4096) == 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~Port() { ::close(socket_); }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  const std::string& url() const { return url_; }

 private:
  const int socket_;
  std::string url_;
};

Json sinks_at(const std::string& url) {
  Json sinks = Json::array();
  for (const char* const name : {"one", "two"}) {
    const Json http = Json::object({{"url", url + "/" + name}, {"timeout", "30s"}});
    sinks.push_back(Json::object({{"name", name}, {"http", http}}));
  }
  return Json::object({{"sinks", std::move(sinks)}});
}

Result<Row> starts(const Plan& plan, Engine& engine, int outstanding) {
  const Json input = order_input();
  std::mutex mutex;
  Latencies latencies;
  CAIRN_TRY(Row row, closed_loop(plan, outstanding, [&](int) -> Result<void> {
              const auto began = std::chrono::steady_clock::now();
              CAIRN_TRY_VOID(engine.start(request_for("one-wait", input)));
              const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
              const std::lock_guard lock(mutex);
              latencies.add(took.count());
              return {};
            }));
  latencies.sort();
  row.extra.set("p95_ms", latencies.at(0.95));
  return row;
}

// Each kind has a store of its own, and the repeats follow each other in it.
Result<std::vector<Row>> beside(const Plan& given, const std::string& variant, const Port* sinks) {
  Plan plan = given;
  std::optional<ScratchSchema> schema;
  if (plan.store.starts_with("postgres")) {
    CAIRN_TRY(ScratchSchema made, ScratchSchema::make(plan.store, "_outbox_backlog"));
    plan.store = schema.emplace(std::move(made)).url();
  }
  CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_wait, emits_many}));
  const std::size_t emitters = sinks == nullptr ? 0 : plan.scaled(200'000) / events_each;
  if (sinks != nullptr) {
    stage.engine.reset();
    EngineOptions options;
    options.store = stage.url;
    options.egress = {sinks->url()};
    options.events = sinks_at(sinks->url());
    CAIRN_TRY(stage.engine, Engine::open(options));
  }
  stage.engine->run();
  CAIRN_TRY_VOID(each_once(emitters, 4, [&](std::size_t) -> Result<void> {
    CAIRN_TRY(const InstanceAnswer ended, stage.engine->start(request_for("emits-many", Json::object())));
    return expect(ended.status, Status::completed);
  }));
  std::vector<Row> rows;
  for (const int outstanding : {1, 16}) {
    plan.progress("outbox-backlog, " + variant + ", " + std::to_string(outstanding) + " outstanding");
    CAIRN_TRY(Row row, median_of(plan, [&] { return starts(plan, *stage.engine, outstanding); }));
    row.workload = "outbox-backlog";
    row.variant = variant;
    row.extra.set("events", static_cast<std::int64_t>(emitters * events_each));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<std::vector<Row>> run_outbox_backlog(const Plan& plan) {
  if (plan.store == "memory") return std::vector<Row>();  // it must be opened twice
  const Port hanging(true);
  const Port refusing(false);
  std::vector<Row> rows;
  for (const auto& [variant, sinks] : {std::pair<const char*, const Port*>{"no events, no sink", nullptr},
                                       {"sinks hang", &hanging},
                                       {"sinks refuse", &refusing}}) {
    CAIRN_TRY(std::vector<Row> some, beside(plan, variant, sinks));
    std::move(some.begin(), some.end(), std::back_inserter(rows));
  }
  return rows;
}

}  // namespace cairn::bench
