// Group commit. As many threads write as the store can use: each takes whatever is queued and commits it in
// one transaction. When idle a unit is committed at once; under load the batches grow by themselves, and a second
// commit begins beside one that is under way once it would be as large. What can
// be done beside the writing is not a writer's work: snapshots are encoded by those who ask, and a large batch
// is answered by a thread of its own, because waking hundreds of callers takes as long as writing for them.
// A host that has only one thread gives `yield`: then there are no threads, and whoever waits for an answer
// writes what is queued by then.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "store/store.h"

namespace cairn {

class CommitQueue {
 public:
  static constexpr std::size_t batch_max = 1024;
  static constexpr std::size_t waiting_max = 65'536;
  static constexpr std::chrono::milliseconds quiet_before_rest{2000};

  // The unit comes back as it was written: whoever decided on what it holds need not keep a copy.
  using Answer = std::function<void(Result<CommitOutcome>, Unit unit)>;

  // `yield`, when given, lets other activities of the only thread go on. The store may rest when nothing was committed
  // for `quiet`.
  explicit CommitQueue(Store& store, std::function<void()> yield = {},
                       std::chrono::milliseconds quiet = quiet_before_rest);
  ~CommitQueue();

  // `answer` is called once, from a thread of the queue: it must be quick and must not call back here.
  // ErrorCode::limit through `answer` when too much waits already.
  void submit(Unit unit, Answer answer);
  // Many at once, so that they go into as few transactions as possible. `answer` is called for each with its place.
  void submit_all(std::vector<Unit> units, std::function<void(std::size_t, Result<CommitOutcome>)> answer);
  // The same, waiting for the answer.
  Result<CommitOutcome> commit(Unit unit);

  // For those who submit several units and then wait for all of them: counts the answers that are to come.
  class Expected {
   public:
    explicit Expected(CommitQueue& queue) : queue_(queue) {}
    void one_more();  // before it is submitted
    void answered();  // the last thing that an answer does
    void wait();

   private:
    CommitQueue& queue_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t open_ = 0;
  };

  // Asks with a function that is to be given the answer, and waits for it.
  template <typename Given>
  Given wait_for(const std::function<void(std::function<void(Given)>)>& ask) {
    std::optional<Given> answer;
    Expected expected(*this);
    expected.one_more();
    ask([&](Given given) {
      answer.emplace(std::move(given));
      expected.answered();
    });
    expected.wait();
    return std::move(*answer);
  }

  // Whether the calling thread is inside a commit of this queue: what the store says meanwhile is about that commit.
  bool commits_here() const { return committing == this; }

  // What is queued is still written; later submissions are ErrorCode::unavailable.
  void stop();

 private:
  struct Entry {
    Unit unit;
    Answer answer;
  };
  struct Batch {
    std::vector<Unit> units;
    std::vector<Answer> answers;
    std::optional<Result<std::vector<CommitOutcome>>> outcomes;
  };
  void run();
  void run_answers();
  void wait_for_units(std::unique_lock<std::mutex>& lock);
  Batch take_batch();
  // Without threads. False: there is nothing to write, or as many write as the store can use.
  bool write_queued();
  void write(Batch& batch);
  static void answer(Batch& batch);

  static thread_local const CommitQueue* committing;

  Store& store_;
  const std::function<void()> yield_;
  const std::chrono::milliseconds quiet_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Entry> waiting_;
  bool stopping_ = false;
  bool rests_ = true;        // the store has nothing to forget
  std::size_t writing_ = 0;  // units in commits that are under way; without threads: activities that write now

  std::mutex written_mutex_;
  std::condition_variable written_changed_;
  std::deque<Batch> written_;  // committed, to be answered
  bool all_written_ = false;

  std::vector<std::jthread> writers_;
  std::jthread answerer_;
};

}  // namespace cairn
