#include "processes.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cairn/engine.h"

extern char** environ;

namespace cairn {

namespace {

constexpr const char* node_flag = "--node";
constexpr int no_server = 9;
// Short, so that the leases of a dead node expire soon.
constexpr std::chrono::milliseconds lease{500};

[[noreturn]] void be_a_node(const NodeOrder& order, const std::string& name) {
  const int ledger = ::open(order.ledger.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  EngineOptions options;
  options.store = order.url;
  options.node = name;
  options.lease = lease;
  if (order.keep.count() > 0) {
    const Duration age = Duration::of_seconds(order.keep.count());
    KeepFor& keep = options.keep;
    for (auto* const kind : {&keep.completed, &keep.failed, &keep.cancelled, &keep.runs, &keep.deleted_runs,
                             &keep.run_events, &keep.dead_letters, &keep.outbox, &keep.keys}) {
      *kind = age;
    }
    options.retention_every = order.keep / 6;
  }
  auto engine = Engine::open(options);
  if (!engine) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), engine.error().message.c_str());
    ::_exit(engine.error().code == ErrorCode::unavailable ? no_server : 1);
  }
  (*engine)->handle("effect.v1", [ledger](const Work& work) -> WorkDone {
    // One write a line: a line is there or it is not.
    const std::string line = std::string(work.payload.text_or("label", "?")) + " " + work.idempotency_key + "\n";
    if (::write(ledger, line.data(), line.size()) != static_cast<ssize_t>(line.size())) ::_exit(3);
    return Json(work.idempotency_key);
  });
  (*engine)->run();
  for (;;) ::pause();
}

}  // namespace

bool ThrowawayServer::installed() { return std::filesystem::exists("/usr/lib/postgresql"); }

ThrowawayServer::ThrowawayServer(std::string folder) : folder_(std::move(folder)) { run("start", "durable"); }
ThrowawayServer::~ThrowawayServer() { run("stop"); }
void ThrowawayServer::kill() { run("kill"); }
void ThrowawayServer::up() { run("up"); }

void ThrowawayServer::run(const std::string& verb, const std::string& more) const {
  const std::string command = std::string(CAIRN_THROWAWAY) + " " + verb + " " + folder_ + " " + more;
  if (std::system(command.c_str()) == 0) return;
  std::fprintf(stderr, "%s failed; see %s/log\n", command.c_str(), folder_.c_str());
  ::_exit(1);
}

NodeProcess::NodeProcess(const NodeOrder& order, const std::string& name) {
  static const std::string program = std::filesystem::canonical("/proc/self/exe");
  const std::string keep = std::to_string(order.keep.count());
  const char* arguments[] = {program.c_str(), node_flag, order.url.c_str(), order.ledger.c_str(), keep.c_str(),
                             name.c_str(),    nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, order.log.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  const int failed = ::posix_spawn(&process_, program.c_str(), &files, nullptr, const_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed == 0) return;
  process_ = -1;
  complaint_ = "cannot be started";
}

void NodeProcess::kill() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  const bool left = WIFEXITED(status) && WEXITSTATUS(status) == no_server;
  if (killed || left) return;
  complaint_ = WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                                   : "ended by itself with " + std::to_string(WEXITSTATUS(status));
}

void become_node_when_asked(int count, char** arguments) {
  if (count != 6 || std::string(arguments[1]) != node_flag) return;
  be_a_node({arguments[2], arguments[3], "", std::chrono::seconds(std::atoll(arguments[4]))}, arguments[5]);
}

}  // namespace cairn
