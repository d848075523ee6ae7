#include "isolation.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/log.h"

namespace cairn::sim {

namespace {

constexpr unsigned seconds_max = 120;  // of a world that normally takes a fraction of one

struct Child {
  std::size_t index = 0;
  pid_t process = 0;
  int pipe = -1;
  std::string text;
};

Json to_json(const WorldOutcome& outcome) {
  Json json = Json::object({{"hash", std::to_string(outcome.hash)},
                            {"commits", static_cast<std::int64_t>(outcome.commits)},
                            {"crashes", static_cast<std::int64_t>(outcome.crashes)},
                            {"steps", static_cast<std::int64_t>(outcome.steps)},
                            {"virtual_ms", outcome.virtual_ms}});
  if (outcome.violation) {
    json.set("invariant", outcome.violation->invariant);
    json.set("message", outcome.violation->message);
    Json last = Json::array({});
    for (const std::string& line : outcome.last) last.push_back(line);
    json.set("last", std::move(last));
  }
  if (!outcome.record.is_null()) json.set("record", outcome.record);
  Json reached = Json::object();
  for (const auto& [what, count] : outcome.reached) reached.set(what, static_cast<std::int64_t>(count));
  json.set("reached", std::move(reached));
  return json;
}

WorldOutcome outcome_from(const Json& json) {
  WorldOutcome outcome;
  outcome.hash = std::stoull(std::string(json.text_or("hash", "0")));
  outcome.commits = static_cast<std::uint64_t>(json["commits"].as_integer());
  outcome.crashes = static_cast<std::uint64_t>(json["crashes"].as_integer());
  outcome.steps = static_cast<std::uint64_t>(json["steps"].as_integer());
  outcome.virtual_ms = json["virtual_ms"].as_integer();
  if (json.find("invariant") != nullptr) {
    outcome.violation = Violation{std::string(json.text_or("invariant", "")), std::string(json.text_or("message", ""))};
    for (const Json& line : json["last"].items()) outcome.last.emplace_back(line.as_string());
  }
  outcome.record = json["record"];
  for (const auto& [what, count] : json["reached"].members()) {
    outcome.reached[std::string(what.view())] = static_cast<std::uint64_t>(count.as_integer());
  }
  return outcome;
}

std::size_t& jobs() {
  static std::size_t count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

std::filesystem::path folder_of(pid_t process) {
  return std::filesystem::temp_directory_path() / ("cairn-sim-" + std::to_string(process));
}

[[noreturn]] void live(const Plan& plan, int pipe) {
  ::alarm(seconds_max);
  enter_folder();
  LogSettings quiet;
  quiet.level = LogLevel::error;
  quiet.write = [](std::string_view) {};
  configure_log(std::move(quiet));
  auto* world = new World(plan, false);
  const std::string text = write_json(to_json(world->run()));
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t sent = ::write(pipe, text.data() + at, text.size() - at);
    if (sent <= 0) ::_exit(1);
    at += static_cast<std::size_t>(sent);
  }
  ::_exit(0);
}

Child start(const std::vector<Plan>& worlds, std::size_t index) {
  int ends[2];
  CAIRN_ASSERT(::pipe(ends) == 0);
  Child child{index, ::fork(), ends[0], ""};
  CAIRN_ASSERT(child.process >= 0);
  if (child.process == 0) {
    ::close(ends[0]);
    live(worlds[index], ends[1]);
  }
  ::close(ends[1]);
  return child;
}

WorldOutcome collect(Child& child) {
  int status = 0;
  ::waitpid(child.process, &status, 0);
  ::close(child.pipe);
  std::error_code ignored;
  std::filesystem::remove_all(folder_of(child.process), ignored);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    if (const auto json = parse_json(child.text)) return outcome_from(*json);
  }
  WorldOutcome outcome;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  outcome.violation = signal == SIGALRM
                          ? Violation{"hang", "the world was still busy after " + std::to_string(seconds_max) + " s"}
                          : Violation{"crash", "the process died of signal " + std::to_string(signal)};
  return outcome;
}

}  // namespace

void set_jobs(std::size_t count) { jobs() = std::max<std::size_t>(1, count); }

void enter_folder() {
  const auto folder = folder_of(::getpid());
  std::filesystem::create_directory(folder);
  std::filesystem::current_path(folder);
}

void run_isolated(const std::vector<Plan>& worlds, const std::function<void(std::size_t, const WorldOutcome&)>& done) {
  std::vector<Child> children;
  std::size_t next = 0;
  while (next < worlds.size() || !children.empty()) {
    while (children.size() < jobs() && next < worlds.size()) children.push_back(start(worlds, next++));
    std::vector<pollfd> pipes;
    for (const Child& child : children) pipes.push_back({child.pipe, POLLIN, 0});
    CAIRN_ASSERT(::poll(pipes.data(), pipes.size(), -1) >= 0);
    for (std::size_t i = children.size(); i-- > 0;) {
      if (pipes[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t size = ::read(children[i].pipe, buffer, sizeof buffer);
      if (size > 0) {
        children[i].text.append(buffer, static_cast<std::size_t>(size));
        continue;
      }
      const WorldOutcome outcome = collect(children[i]);
      done(children[i].index, outcome);
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

WorldOutcome run_isolated(const Plan& plan) {
  WorldOutcome outcome;
  run_isolated(std::vector<Plan>{plan}, [&](std::size_t, const WorldOutcome& given) { outcome = given; });
  return outcome;
}

}  // namespace cairn::sim
