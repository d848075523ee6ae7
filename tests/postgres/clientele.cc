#include "clientele.h"

#include <gtest/gtest.h>

#include "store/store.h"
#include "upkeep/verify.h"

namespace cairn {

namespace {

using namespace std::chrono_literals;
constexpr auto pause = 5ms;  // between two looks at the same question
constexpr std::size_t starters = 4;
constexpr std::size_t definitions = 24;

std::string name_of(std::size_t number) { return "c" + std::to_string(number); }

}  // namespace

Clientele::Clientele(const std::string& url, unsigned seed, std::size_t outstanding) : outstanding_(outstanding) {
  std::mt19937 random(seed);
  workflows_ = generate_workflows(random, definitions);
  EngineOptions options;
  options.store = url;
  options.node = "clientele";
  auto opened = Engine::open(options);
  if (!opened) {
    ADD_FAILURE() << opened.error().message;
    std::abort();
  }
  engine_ = std::move(*opened);
  const auto deploy = [this](const std::string& text) {
    const auto done = engine_->deploy(text);
    EXPECT_TRUE(done.has_value()) << done.error().message << "\n" << text;
  };
  deploy(child_workflow());
  for (const GeneratedWorkflow& workflow : workflows_) deploy(workflow.text);
  for (std::size_t i = 0; i < starters; ++i) threads_.emplace_back([this] { start_some(); });
  threads_.emplace_back([this] { see_to_people(); });
  threads_.emplace_back([this] { look_for_ends(); });
}

Clientele::~Clientele() {
  over_ = true;
  threads_.clear();
}

void Clientele::bring(std::size_t count) { wanted_ += count; }
void Clientele::close() { wanted_ = 0; }

bool Clientele::closed_or_done() { return next_ >= wanted_ && starting_ == 0; }

std::set<std::string> Clientele::unfinished() {
  const std::lock_guard lock(mutex_);
  return unfinished_;
}

bool Clientele::wait(std::chrono::milliseconds limit, const std::function<bool()>& done) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

void Clientele::start_some() {
  while (!over_) {
    ++starting_;
    bool full = false;
    {
      const std::lock_guard lock(mutex_);
      full = unfinished_.size() >= outstanding_;
    }
    std::size_t number = next_;
    const bool mine = !full && number < wanted_ && next_.compare_exchange_strong(number, number + 1);
    if (mine) start_one(number);
    --starting_;
    if (!mine) std::this_thread::sleep_for(pause);
  }
}

void Clientele::start_one(std::size_t number) {
  const GeneratedWorkflow& workflow = workflows_[number % workflows_.size()];
  const std::string id = name_of(number);
  const auto insist = [this](const auto& ask) {
    while (!over_ && !ask()) std::this_thread::sleep_for(pause);
  };
  const auto send_signals = [&] {
    for (const std::string& signal : workflow.signals) {
      insist([&] {
        return engine_->broadcast(signal, Json(id), Json(), Duration::of_seconds(86'400), id + "/" + signal)
            .has_value();
      });
    }
  };
  // Every other one hears of its signals before it exists.
  if (number % 2 == 0) send_signals();
  insist([&] {
    StartRequest request;
    request.definition = workflow.name;
    request.id = id;
    request.idempotency_key = id;
    const auto started = engine_->start(request);
    if (!started) {
      EXPECT_EQ(started.error().code, ErrorCode::unavailable) << id << ": " << started.error().message;
      return false;
    }
    const std::lock_guard lock(mutex_);
    all_.insert(id);
    unfinished_.insert(id);
    return true;
  });
  if (number % 2 == 1) send_signals();
}

void Clientele::see_to_people() {
  while (!over_) {
    const auto tasks = engine_->tasks();
    if (tasks) {
      for (const OpenTaskView& task : *tasks) {
        // Refused when it was completed meanwhile, and unanswered when the server is away: the next look tells.
        const auto done = engine_->complete(task.id, Json::object(), {}, task.id.value);
        if (!done) break;
      }
    }
    std::this_thread::sleep_for(pause);
  }
}

void Clientele::look_for_ends() {
  while (!over_) {
    for (const std::string& id : unfinished()) {
      const auto state = engine_->find({id});
      if (over_ || (!state && state.error().code == ErrorCode::unavailable)) break;
      EXPECT_TRUE(state.has_value()) << "the acknowledged start of " << id << " is lost: " << state.error().message;
      if (state && !is_final(state->status) && state->status != Status::suspended) continue;
      if (state) {
        EXPECT_EQ(state->status, Status::completed) << id << (state->error ? ": " + state->error->message : "");
      }
      const std::lock_guard lock(mutex_);
      unfinished_.erase(id);
      ++ended_;
    }
    std::this_thread::sleep_for(pause);
  }
}

void Clientele::judge(const std::string& ledger) {
  over_ = true;
  threads_.clear();
  for (const std::string& id : unfinished_) ADD_FAILURE() << id << " has not come to its end";
  std::set<std::string> owed;
  for (std::size_t i = 0; i < next_; ++i) {
    for (const std::string& effect : workflows_[i % workflows_.size()].effects) owed.insert(name_of(i) + effect);
  }
  std::size_t repeats = 0;
  for (const std::string& complaint : judge_ledger(ledger, owed, repeats)) ADD_FAILURE() << complaint;
  const auto report = verify_store(engine_->store());
  ASSERT_TRUE(report.has_value()) << report.error().message;
  for (const Finding& finding : report->findings) {
    ADD_FAILURE() << finding.invariant << ": " << finding.subject << ": " << finding.message;
  }
  EXPECT_EQ(all_.size(), ended_);
  std::printf("instances %zu, effects %zu, calls repeated with their key %zu\n", all_.size(), owed.size(), repeats);
}

}  // namespace cairn
