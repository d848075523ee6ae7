// `cairn-bench` measures this build on this machine. It links the whole product, because the servers and workers that
// it measures are processes of its own program: `cairn-bench serve …` is `cairn serve …` with counted disk operations.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "workloads/disk_counts.h"
#include "workloads/idle.h"
#include "workloads/report.h"

namespace cairn::cli {
namespace {

const CommandSpec& bench_spec() {
  static const CommandSpec spec{
      "cairn-bench",
      "[WORKLOAD…] [--store sqlite|memory|URL] [--outstanding 1,16,64,256] [--seconds S] [--repeats N] [--scale X] "
      "[--instances N] [--pieces BYTES] [--dir DIR] [--quick] [--idle STORE] [--work URL] [--json]",
      "Measure this build on this machine",
      "Without names it runs every workload. Each one creates its own store below --dir (the measured disk) and\n"
      "removes it. Rates are the median of --repeats runs. `written`, `WAL` and `syncs` are per workflow, counted\n"
      "where SQLite calls the system.\n"
      "\n"
      "  one-wait           a workflow that waits once, started and completed; alternating with the ceiling: the same\n"
      "                     rows written with plain SQLite by one thread, or with plain libpq on two connections\n"
      "  five-checkpoints   five steps, each committed before the next\n"
      "  W1, W2             one worker call, five worker calls in sequence\n"
      "  W3                 5 000 instances wait for a signal, 64 signals in flight\n"
      "  W4                 10 000 timers due at one instant; the times are lateness\n"
      "  W5                 20 000 jobs: enqueued in bulk and drained, one at a time, and started by an idle worker\n"
      "  W6                 cost of 10 000, 100 000 and 1 000 000 waiting instances\n"
      "  W7                 a task created, claimed and completed\n"
      "  W8                 100 000 due instances after kill -9\n"
      "  nodes              on PostgreSQL: one-wait by one and by three processes, bytes and WAL per workflow, and\n"
      "                     how long a signal takes to resume an instance, compared with a bare commit\n"
      "  http-…             one-wait, W1, W2, W3 and W7 through the HTTP API: server, worker and client are separate\n"
      "                     processes\n"
      "  at-rest            an idle server: milliseconds until it is ready, memory\n"
      "  outbox-backlog     by name only: starts beside 200 000 events whose sinks hang or refuse; see p95_ms\n"
      "  scale              by name only: operations in a store that is first filled with --instances instances\n"
      "  scale-instance     by name only: one step of an instance while its age, state, input, lists, strands, tasks,\n"
      "                     children or kept signals grow; --scale 0.01 leaves out the largest sizes\n"
      "\n"
      "On PostgreSQL the server counts `WAL` and `syncs`; its CPU time and writes are known if it runs on this\n"
      "machine. A store given by its URL is kept.\n",
      {{"--store", "sqlite|memory|URL", "the store to measure (default sqlite)"},
       {"--outstanding", "N,…", "concurrent requests (default 1,16,64,256)"},
       {"--seconds", "S", "duration of each closed loop (default 2)"},
       {"--repeats", "N", "number of runs; the median is reported (default 3)"},
       {"--scale", "X", "factor for the fixed numbers of instances (default 1)"},
       {"--instances", "N", "workload scale: the number of instances (default 1000)"},
       {"--pieces", "BYTES",
        "workload scale-instance: values of this size are stored apart; 0: none is (default: as a server)"},
       {"--dir", "DIR", "where stores are created (default: the temporary folder)"},
       {"--quick", "", "short runs: --seconds 0.3 --repeats 1 --scale 0.01"},
       {"--idle", "STORE", "do not measure: open the store and stay idle until killed; used by W6"},
       {"--work", "URL", "do not measure: the worker process of http-W1 and http-W2"},
       {"--json", "", "print one JSON document instead of a table"}},
      {"cairn-bench", "cairn-bench one-wait --outstanding 64,256 --repeats 5", "cairn-bench W4 --store memory"}};
  return spec;
}

template <class T>
bool read_number(std::string_view text, T& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc() && end == text.data() + text.size() && into > 0;
}

// Empty if the arguments make a valid plan; otherwise the error.
std::optional<std::string> read_plan(const Arguments& arguments, bench::Plan& plan) {
  if (arguments.has("--quick")) {
    plan.seconds = 0.3;
    plan.repeats = 1;
    plan.scale = 0.01;
  }
  plan.store = arguments.value("--store").value_or("sqlite");
  if (plan.store != "sqlite" && plan.store != "memory" && !plan.store.starts_with("sqlite:") &&
      !plan.store.starts_with("postgres")) {
    return "--store is sqlite, memory or the URL of an empty store";
  }
  if (const auto text = arguments.value("--instances"); text && !read_number(*text, plan.instances)) {
    return "--instances is a whole number greater than 0";
  }
  if (const auto text = arguments.value("--pieces")) {
    std::size_t bytes = 0;
    if (*text != "0" && !read_number(*text, bytes)) return "--pieces is a whole number";
    plan.piece_bytes_min = bytes;
  }
  plan.folder = arguments.value("--dir").value_or(std::filesystem::temp_directory_path().string());
  if (const auto text = arguments.value("--seconds"); text && !read_number(*text, plan.seconds)) {
    return "--seconds is a number greater than 0";
  }
  if (const auto text = arguments.value("--repeats"); text && !read_number(*text, plan.repeats)) {
    return "--repeats is a whole number greater than 0";
  }
  if (const auto text = arguments.value("--scale"); text && !read_number(*text, plan.scale)) {
    return "--scale is a number greater than 0";
  }
  if (const auto text = arguments.value("--outstanding")) {
    plan.outstanding.clear();
    for (std::size_t at = 0; at <= text->size();) {
      const std::size_t comma = std::min(text->find(',', at), text->size());
      int level = 0;
      if (!read_number(std::string_view(*text).substr(at, comma - at), level) || level > 10'000) {
        return "--outstanding is a list of whole numbers from 1 to 10000, such as 1,64";
      }
      plan.outstanding.push_back(level);
      at = comma + 1;
    }
  }
  return std::nullopt;
}

int run_bench(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(bench_spec(), args, arguments, out, err)) return *over;
  const auto idle = arguments.value("--idle");
  const auto work = arguments.value("--work");
  if (idle || work) {
    const auto failed = idle ? bench::stay_idle(*idle) : bench::work_for(*work);
    err << "cairn-bench: " << failed.error().message << "\n";
    return exit_code_of(failed.error().code);
  }
  bench::Plan plan;
  if (const auto wrong = read_plan(arguments, plan)) {
    err << "cairn-bench: " << *wrong << "\n";
    return exit_usage;
  }
  std::vector<const bench::Workload*> chosen;
  for (const bench::Workload& workload : bench::workloads()) {
    if (arguments.positional().empty() && !workload.by_name_only) chosen.push_back(&workload);
  }
  for (const std::string& name : arguments.positional()) {
    const auto all = bench::workloads();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& known) { return known.name == name; });
    if (found == all.end()) {
      err << "cairn-bench: unknown workload '" << name << "'; cairn-bench --help lists them\n";
      return exit_usage;
    }
    chosen.push_back(&*found);
  }
  plan.progress = [&err](const std::string& what) { err << what << "\n"; };
  std::vector<bench::Row> rows;
  for (const bench::Workload* workload : chosen) {
    auto measured = workload->run(plan);
    if (!measured) {
      err << "cairn-bench: " << workload->name << ": " << measured.error().message << "\n";
      return exit_code_of(measured.error().code);
    }
    rows.insert(rows.end(), measured->begin(), measured->end());
  }
  if (arguments.has("--json")) {
    out << write_json(Json::object({{"rows", bench::to_json(rows)}, {"store", plan.store}})) << "\n";
  } else {
    bench::print_table(rows, out);
  }
  return exit_done;
}

}  // namespace
}  // namespace cairn::cli

int main(int count, char** words) {
  const std::vector<std::string> args(words + 1, words + count);
  if (!args.empty() && args.front() == "serve") {
    cairn::bench::count_disk_for_parent();
    return cairn::cli::run_cairn(args, std::cin, std::cout, std::cerr);
  }
  return cairn::cli::run_bench(args, std::cin, std::cout, std::cerr);
}
