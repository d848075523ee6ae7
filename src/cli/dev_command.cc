#include "cli/commands.h"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <mutex>

#include "api/api.h"
#include "cairn/engine.h"
#include "cli/definition_files.h"
#include "cli/dev_clock.h"
#include "cli/dev_definitions.h"
#include "cli/dev_examples.h"
#include "cli/embedded_examples.h"
#include "cli/exit_code.h"
#include "cli/file_watch.h"
#include "cli/input_file.h"
#include "cli/listen_address.h"
#include "cli/settings_file.h"
#include "cli/stop_watchdog.h"
#include "transport/egress_policy.h"

namespace cairn::cli {
namespace {

// Reads HOST:PORT or PORT.
Result<http::HttpSettings> listen_settings(const std::string& text) {
  http::HttpSettings settings;
  const auto address = read_listen_address(text);
  if (!address) return Error{ErrorCode::invalid, "--listen takes HOST:PORT or PORT, not \"" + text + "\""};
  if (!address->host.empty()) settings.host = address->host;
  settings.port = address->port;
  const bool loopback = settings.host == "localhost" || settings.host == "::1" || settings.host.starts_with("127.");
  if (!loopback) {
    return Error{
        ErrorCode::not_allowed,
        "cairn dev has no authentication, so it listens on this machine only (127.0.0.1), not on " + settings.host};
  }
  return settings;
}

// Prints all errors of an invalid file and continues with the others. Returns how many were deployed.
Result<std::size_t> deploy(DevDefinitions& definitions, const std::vector<std::string>& paths, std::istream& in) {
  std::size_t deployed = 0;
  for (const std::string& path : paths) {
    CAIRN_TRY(const auto files, definition_files(path));
    for (const std::string& file : files) {
      CAIRN_TRY(const std::string text, read_input(file, in, Limits().definition_bytes_max));
      deployed += definitions.deploy(text, file) ? 1 : 0;
    }
  }
  return deployed;
}

// `cairn dev time [+DURATION]`: the running server notices the changed file.
int move_time(const std::optional<std::string>& by, std::ostream& out, std::ostream& err) {
  const auto refuse = [&err](const Error& error, int code) {
    err << "cairn dev time: " << error.message << "\n";
    return code;
  };
  auto ahead = read_dev_clock(dev_clock_file);
  if (!ahead) return refuse(ahead.error(), exit_invalid);
  if (by) {
    const auto length = parse_duration(by->starts_with('+') ? by->substr(1) : *by);
    if (!length || length->negative() || length->seconds == 0)
      return refuse({ErrorCode::invalid, "give a duration of whole seconds, such as +2d or +1h30m"}, exit_usage);
    struct stat about {};
    if (stat(".cairn", &about) != 0)
      return refuse({ErrorCode::not_found, "this folder has no .cairn; run this command in the folder of `cairn dev`"},
                    exit_not_found);
    *ahead += length->seconds;
    if (const auto written = write_dev_clock(dev_clock_file, *ahead); !written)
      return refuse(written.error(), exit_failed);
  }
  DevClock clock;
  clock.move_to(*ahead);
  const Timestamp now = Timestamp::of_unix_ms(clock.now().unix_ms() / 1000 * 1000);
  out << format_timestamp(now)
      << (*ahead > 0 ? ", " + format_duration_short(Duration::of_seconds(*ahead)) + " ahead" : "") << "\n";
  return exit_done;
}

}  // namespace

const CommandSpec& dev_spec() {
  static const CommandSpec spec{
      "dev",
      "[FILE|FOLDER…] [--listen HOST:PORT] [--store URL] [--config FILE] [--egress ENTRIES] [--ca-file FILE] | time "
      "[+DURATION]",
      "Run a development server: engine, API, console, demo workers",
      "The store is in ./.cairn, so a kill or a restart loses nothing. Changed files are deployed again; the\n"
      "errors of an invalid file are printed with line and column, and the previous version stays. Without a file\n"
      "it deploys examples/, or built-in examples if there is no such folder, and starts three of them in a new\n"
      "store. It includes workers for demo.echo.v1 and demo.flaky.v1. It listens on this machine only and has no\n"
      "authentication. Old rows go after the default periods of keep.*, which `cairn config show` prints.\n"
      "`cairn dev time +2d`, in the same folder, moves the clock of the running server forward, so that timers and\n"
      "deadlines become due.",
      {{"--listen", "HOST:PORT", "the address to listen on (default 127.0.0.1:8400)"},
       {"--store", "URL", "another store: memory: or sqlite:PATH"},
       {"--config", "FILE", "values for `config` in expressions, YAML or JSON"},
       {"--egress", "ENTRIES", "where calls may go besides https and this machine: http://HOST:PORT, 10.0.0.0/8, …"},
       {"--ca-file", "FILE", "PEM: authorities that calls trust in addition to the system's"}},
      {"cairn dev", "cairn dev order.yaml --listen 9000", "cairn dev examples --store memory:", "cairn dev time +2d"}};
  return spec;
}

int run_dev(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  StopWatchdog watchdog;  // first: it covers every destructor that may block
  Arguments arguments;
  if (const auto over = read_arguments(dev_spec(), args, arguments, out, err)) return *over;
  const auto fail = [&err](const Error& error) {
    err << "cairn dev: " << error.message << "\n";
    return static_cast<int>(exit_code_of(error.code));
  };
  if (!arguments.positional().empty() && arguments.positional()[0] == "time") {
    if (arguments.positional().size() > 2) return move_time("", out, err);
    return move_time(arguments.positional().size() == 2 ? std::optional(arguments.positional()[1]) : std::nullopt, out,
                     err);
  }
  const auto settings = listen_settings(arguments.value("--listen").value_or("127.0.0.1:8400"));
  if (!settings)
    return settings.error().code == ErrorCode::invalid ? (fail(settings.error()), exit_usage) : fail(settings.error());

  EngineOptions options;
  options.node = "dev";
  options.strict_definitions = false;
  options.events = Json::object({{"keep", Json::array({"instances", "tasks", "runs"})}});  // for GET /v1/events
  options.store = arguments.value("--store").value_or("");
  if (options.store.empty()) {
    if (mkdir(".cairn", 0700) != 0 && errno != EEXIST)
      return fail({ErrorCode::unavailable, "cannot make the folder .cairn here"});
    options.store = "sqlite:.cairn/cairn.db";
  }
  DevClock clock;
  const auto ahead = read_dev_clock(dev_clock_file);
  if (!ahead) return fail(ahead.error());
  clock.move_to(*ahead);
  options.clock = &clock;
  if (const auto file = arguments.value("--config")) {
    auto config = read_settings(*file, in, Limits());
    if (!config) return fail(config.error());
    options.config = std::move(*config);
  }

  const char* const from_environment = std::getenv("CAIRN_EGRESS");
  const char* const authorities = std::getenv("CAIRN_CA_FILE");
  options.ca_file = arguments.value("--ca-file").value_or(authorities != nullptr ? authorities : "");
  options.egress = egress_entries(arguments.value("--egress").value_or(from_environment ? from_environment : ""));
  // The user who starts this server may call the programs of this machine anyway.
  for (const char* const entry : {"127.0.0.0/8", "::1", "http://127.0.0.1", "http://localhost", "http://[::1]"}) {
    options.egress.emplace_back(entry);
  }

  // Blocked before any thread starts, so that only sigwait below receives them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  auto engine = Engine::open(options);
  if (!engine) return fail(engine.error());
  DevDefinitions definitions(**engine, out, err);
  std::vector<std::string> paths = arguments.positional();
  struct stat about {};
  if (paths.empty() && stat("examples", &about) == 0 && S_ISDIR(about.st_mode)) paths.emplace_back("examples");
  auto deployed = deploy(definitions, paths, in);
  if (!deployed) return fail(deployed.error());
  if (paths.empty()) {
    for (const EmbeddedExample& example : embedded_examples())
      *deployed += definitions.deploy(example.text, std::string(example.name)) ? 1 : 0;
  }
  add_demo_workers(**engine);
  (*engine)->run();
  if (arguments.positional().empty()) {
    if (const auto started = start_examples(**engine); !started) return fail(started.error());
  }
  auto serving = api::Server::open((*engine)->core(), *settings);
  if (!serving) return fail(serving.error());

  std::vector<std::string> watched = paths;
  watched.erase(std::remove(watched.begin(), watched.end(), "-"), watched.end());
  if (stat(".cairn", &about) == 0) watched.emplace_back(dev_clock_file);
  std::mutex speaks;  // held while a thread writes to `out` or `err`
  auto watch = FileWatch::start(watched, [&](const std::string& path) {
    const std::lock_guard lock(speaks);
    if (path != dev_clock_file) return definitions.changed(path);
    if (const auto moved = read_dev_clock(path); moved) {
      clock.move_to(*moved);
      (*engine)->look_again();
      out << "it is " << format_timestamp(clock.now()) << " now" << std::endl;
    }
  });
  std::unique_lock speaking(speaks);
  if (!watch) err << "cairn dev: " << watch.error().message << "; changes need a restart\n";

  const std::string url = "http://" + url_host(settings->host) + ":" + std::to_string((*serving)->port());
  const bool in_memory = options.store.starts_with("memory");
  const bool has_hello = (*engine)->core().registry().find("hello", std::nullopt).has_value();
  out << "cairn is ready at " << url << "/  (" << *deployed << " definitions, store " << options.store << ")\n";
  if (const std::string names = definitions.deployed(); !names.empty()) out << "deployed: " << names << "\n";
  out << "\n"
      << "Try next:\n"
      << "  open " << url << "/ in a browser, or in another terminal, in this folder:\n"
      << "  export CAIRN_SERVER=" << url << "\n"
      << (has_hello ? "  cairn start hello --input '{\"name\": \"Ada\"}'\n"
                      "  cairn tasks\n"
                      "  cairn task complete ID --payload '{\"greeting\": \"Hello\"}'\n"
                    : "  cairn definitions, cairn start NAME --input JSON, cairn list, cairn tasks\n")
      << (in_memory ? "" : "  cairn dev time +1h        moves the clock forward, so that timers fire\n")
      << (in_memory ? "\nCtrl-C stops it. The store is in memory: nothing is kept."
                    : "\nCtrl-C stops it; kill -9 loses nothing.")
      << std::endl;
  speaking.unlock();

  int received = 0;
  sigwait(&ends, &received);
  constexpr std::chrono::seconds drain{10};
  watchdog.arm(drain + StopWatchdog::margin + Engine::stop_grace);
  if (watch) watch->reset();
  out << "stopping" << std::endl;
  (*engine)->core().store().stop_waiting(drain / 2);
  (*engine)->core().leasing().waiters().stop();  // answers the waiting workers, so that they do not delay the stop
  (*serving)->drain(drain);
  serving->reset();
  (*engine)->stop();
  return received == SIGINT ? exit_interrupted : exit_done;
}

}  // namespace cairn::cli
