#include "cli/dev_command.h"

#include <pthread.h>
#include <sys/stat.h>

#include <charconv>
#include <csignal>

#include "cairn/engine.h"
#include "cli/definition_files.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/settings_file.h"
#include "definition/definition.h"
#include "server/api.h"

namespace cairn::cli {
namespace {

// HOST:PORT or PORT.
Result<server::HttpSettings> listen_settings(const std::string& text) {
  server::HttpSettings settings;
  const std::size_t colon = text.rfind(':');
  const std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
  if (colon != std::string::npos) settings.host = text.substr(0, colon);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), settings.port);
  if (port.empty() || read.ec != std::errc() || read.ptr != port.data() + port.size()) {
    return Error{ErrorCode::invalid, "--listen takes HOST:PORT or PORT, not \"" + text + "\""};
  }
  const bool loopback = settings.host == "localhost" || settings.host == "::1" || settings.host.starts_with("127.");
  if (!loopback) {
    return Error{
        ErrorCode::not_allowed,
        "cairn dev asks nobody who they are, so it listens on this machine only (127.0.0.1), not on " + settings.host};
  }
  return settings;
}

// Deploys what the files hold; a file that is not valid is named with everything that is wrong, and
// the rest goes on. How many were deployed.
Result<std::size_t> deploy(Engine& engine, const std::vector<std::string>& paths, std::istream& in, std::ostream& err) {
  std::size_t deployed = 0;
  for (const std::string& path : paths) {
    CAIRN_TRY(const auto files, definition_files(path));
    for (const std::string& file : files) {
      CAIRN_TRY(const std::string text, read_input(file, in, Limits().definition_bytes_max));
      const auto name = engine.deploy(text, file);
      if (name) {
        ++deployed;
      } else {
        err << name.error().message << "\n";
      }
    }
  }
  return deployed;
}

}  // namespace

const CommandSpec& dev_spec() {
  static const CommandSpec spec{
      "dev",
      "[FILE|FOLDER…] [--listen HOST:PORT] [--store URL] [--config FILE]",
      "Everything in one process, for trying out: engine, API, a page with the tasks",
      "Keeps its store in ./.cairn, so that a kill or a restart loses nothing. Without a file it deploys examples/ "
      "when that "
      "folder exists. Listens on this machine only and asks nobody who they are.",
      {{"--listen", "HOST:PORT", "where to listen (default 127.0.0.1:8400)"},
       {"--store", "URL", "another store: memory: or sqlite:PATH"},
       {"--config", "FILE", "values for `config` in expressions, YAML or JSON"}},
      {"cairn dev", "cairn dev order.yaml --listen 9000", "cairn dev examples --store memory:"}};
  return spec;
}

int run_dev(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(dev_spec(), args, arguments, out, err)) return *over;
  const auto fail = [&err](const Error& error) {
    err << "cairn dev: " << error.message << "\n";
    return static_cast<int>(exit_code_of(error.code));
  };
  const auto settings = listen_settings(arguments.value("--listen").value_or("127.0.0.1:8400"));
  if (!settings)
    return settings.error().code == ErrorCode::invalid ? (fail(settings.error()), exit_usage) : fail(settings.error());

  EngineOptions options;
  options.node = "dev";
  options.strict_definitions = false;
  options.store = arguments.value("--store").value_or("");
  if (options.store.empty()) {
    if (mkdir(".cairn", 0700) != 0 && errno != EEXIST)
      return fail({ErrorCode::unavailable, "cannot make the folder .cairn here"});
    options.store = "sqlite:.cairn/cairn.db";
  }
  if (const auto file = arguments.value("--config")) {
    auto config = read_settings(*file, in, Limits());
    if (!config) return fail(config.error());
    options.config = std::move(*config);
  }

  // Blocked before any thread starts, so that only sigwait below sees them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  auto engine = Engine::open(options);
  if (!engine) return fail(engine.error());
  std::vector<std::string> paths = arguments.positional();
  struct stat about {};
  if (paths.empty() && stat("examples", &about) == 0 && S_ISDIR(about.st_mode)) paths.emplace_back("examples");
  const auto deployed = deploy(**engine, paths, in, err);
  if (!deployed) return fail(deployed.error());
  (*engine)->run();
  auto serving = server::Server::open((*engine)->coordinator(), *settings);
  if (!serving) return fail(serving.error());

  const std::string url = "http://" + settings->host + ":" + std::to_string((*serving)->port());
  out << "cairn is ready at " << url << "/  (" << *deployed << " definitions, store " << options.store << ")\n\n"
      << "Try next:\n"
      << "  open " << url << "/ in a browser, or\n"
      << "  curl -s " << url
      << "/v1/instances -d '{\"definition\":\"hello\",\"input\":{\"name\":\"Ada\"}}' -H 'content-type: "
         "application/json'\n"
      << "  curl -s " << url << "/v1/tasks\n"
      << "  curl -s " << url
      << "/v1/tasks/ID/complete -d '{\"payload\":{\"greeting\":\"Hello\"}}' -H 'content-type: application/json'\n\n"
      << "Ctrl-C stops it; kill -9 loses nothing." << std::endl;

  int received = 0;
  sigwait(&ends, &received);
  out << "stopping" << std::endl;
  (*serving)->drain(std::chrono::seconds(10));
  serving->reset();
  (*engine)->stop();
  return received == SIGINT ? exit_interrupted : exit_done;
}

}  // namespace cairn::cli
