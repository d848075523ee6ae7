// 16 writers with random delays, 2 dispatchers, receivers that refuse one try in twenty. CAIRN_OUTBOX_EVENTS says how
// many events (10 000 when absent), CAIRN_SEED which random numbers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "outbox/dispatcher.h"
#include "outbox/subscriber.h"
#include "store/open.h"

namespace cairn {
namespace {

constexpr int writers = 16;
constexpr int subjects_each = 8;
constexpr int events_in_a_commit = 5;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// What one receiver got, in the order in which it came.
class Receiver {
 public:
  explicit Receiver(std::uint64_t seed) : random_(seed) {}

  bool take(const Json& event) {
    const std::lock_guard lock(mutex_);
    if (random_() % 20 == 0) return false;
    const std::string subject(event.text_or("subject", ""));
    const std::int64_t number = event["data"].as_integer();
    auto& seen = seen_[subject];
    // A repeat is allowed, an event before its predecessor is not.
    if (number >= static_cast<std::int64_t>(seen)) {
      if (number != static_cast<std::int64_t>(seen)) {
        out_of_order_ += subject + ": " + std::to_string(number) + " after " + std::to_string(seen) + "\n";
      }
      seen = static_cast<std::uint64_t>(number) + 1;
      ++distinct_;
    } else {
      ++repeats_;
    }
    return true;
  }
  std::uint64_t distinct() const { return distinct_; }
  std::uint64_t repeats() const { return repeats_; }
  const std::string& out_of_order() const { return out_of_order_; }

 private:
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::map<std::string, std::uint64_t> seen_;
  std::uint64_t distinct_ = 0;
  std::uint64_t repeats_ = 0;
  std::string out_of_order_;
};

void write(Store& store, int writer, std::uint64_t events, std::uint64_t seed) {
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(writer));
  std::vector<std::uint64_t> next(subjects_each, 0);
  std::uint64_t written = 0;
  for (int commit = 0; written < events; ++commit) {
    Advance advance;
    advance.after.instance = {"w" + std::to_string(writer) + "-" + std::to_string(commit)};
    advance.after.program = {"p", "1.0.0", std::string(64, 'a')};
    advance.after.state_version = 1;
    advance.after.status = Status::completed;
    for (int i = 0; i < events_in_a_commit && written < events; ++i, ++written) {
      const std::uint64_t subject = random() % subjects_each;
      const std::string name = "s" + std::to_string(writer) + "-" + std::to_string(subject);
      advance.outbox.push_back({{name + "/" + std::to_string(next[subject])},
                                "test.happened",
                                name,
                                Json(static_cast<long long>(next[subject]))});
      ++next[subject];
    }
    for (std::uint64_t pause = random() % 64; pause > 0; --pause) std::this_thread::yield();
    Unit unit;
    unit.advances.push_back(std::move(advance));
    const auto outcome = store.commit(std::span(&unit, 1));
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    ASSERT_EQ(outcome->front().kind, CommitOutcome::Kind::done);
  }
}

void run_on(const std::string& url) {
  const std::uint64_t seed = number_from("CAIRN_SEED", std::random_device()());
  const std::uint64_t total = number_from("CAIRN_OUTBOX_EVENTS", 10'000);
  SCOPED_TRACE("CAIRN_SEED=" + std::to_string(seed));
  configure_log({LogLevel::error, LogFormat::text, {}});  // each refusal would be a line
  SystemClock clock;
  auto opened = open_store(url, clock);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  Store& store = **opened;
  Receiver one(seed + 1), two(seed + 2);
  std::vector<std::unique_ptr<Dispatcher>> dispatchers;
  for (const char* owner : {"first", "second"}) {
    std::vector<std::unique_ptr<Sink>> sinks;
    sinks.push_back(std::make_unique<Subscriber>("one", std::vector<std::string>{}, "/t",
                                                 [&one](const Json& event) { return one.take(event); }));
    sinks.push_back(std::make_unique<Subscriber>("two", std::vector<std::string>{}, "/t",
                                                 [&two](const Json& event) { return two.take(event); }));
    DispatcherOptions options;
    options.owner = owner;
    options.backoff = options.cap = Duration::of_ms(2);
    dispatchers.push_back(std::make_unique<Dispatcher>(store, std::move(sinks), options));
  }
  std::atomic<bool> writing = true;
  const auto all_published = [&] {
    OutboxFilter filter;
    filter.unpublished = true;
    const auto waiting = store.list_outbox(filter, {1, ""});
    return waiting.has_value() && waiting->items.empty();
  };
  // Both work at the same time and take turns with the lock, as two nodes do.
  std::vector<std::jthread> threads;
  for (auto& dispatcher : dispatchers) {
    threads.emplace_back([&, with = dispatcher.get()] {
      while (writing || !all_published()) {
        const auto round = with->dispatch();
        ASSERT_TRUE(round.has_value()) << round.error().message;
        if (round->claimed == 0) std::this_thread::yield();
      }
    });
  }
  {
    std::vector<std::jthread> writing_threads;
    for (int i = 0; i < writers; ++i) {
      writing_threads.emplace_back([&store, i, total, seed] { write(store, i, total / writers, seed); });
    }
  }
  writing = false;
  threads.clear();
  const std::uint64_t expected = total / writers * writers;
  for (const Receiver* receiver : {&one, &two}) {
    EXPECT_EQ(receiver->out_of_order(), "");
    EXPECT_EQ(receiver->distinct(), expected);
  }
  EXPECT_TRUE(all_published());
  std::printf("%llu events twice, %llu and %llu repeats\n", static_cast<unsigned long long>(expected),
              static_cast<unsigned long long>(one.repeats()), static_cast<unsigned long long>(two.repeats()));
}

TEST(OutboxOrder, InMemory) { run_on("memory:"); }

TEST(OutboxOrder, OnSqlite) {
  const std::string folder = std::string(std::filesystem::exists("/dev/shm") ? "/dev/shm" : testing::TempDir()) +
                             "/cairn_outbox_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  run_on("sqlite:" + folder + "/store.db");
  std::filesystem::remove_all(folder);
}

TEST(OutboxOrder, OnPostgres) {
  const char* const server = std::getenv("CAIRN_TEST_POSTGRES");
  if (server == nullptr) GTEST_SKIP() << "CAIRN_TEST_POSTGRES names no server";
  const std::string url(server);
  run_on(url + (url.find('?') == std::string::npos ? "?" : "&") + "schema=outbox_" + std::to_string(::getpid()));
}

}  // namespace
}  // namespace cairn
