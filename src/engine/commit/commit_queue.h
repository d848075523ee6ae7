// Group commit. As many threads write as the store can use: each takes whatever is queued and commits it in
// one transaction. When idle a unit is committed at once; under load the batches grow by themselves, and a second
// commit begins beside one that is under way once it would be as large. What can
// be done beside the writing is not a writer's work: snapshots are encoded by those who ask, and a large batch
// is answered by a thread of its own, because waking hundreds of callers takes as long as writing for them. Where a
// store commits ahead, a further thread waits for the disk; what comes meanwhile is worked on in the next transaction,
// which is committed when the disk is free again: batches are as large as before, and neither waits for the other.
// A host that has only one thread gives `yield`: then there are no threads, and whoever waits for an answer
// writes what is queued by then.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
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
  using Answer = std::function<void(Result<CommitOutcome>, Unit&& unit)>;

  // `yield`, when given, lets other activities of the only thread go on. The store may rest when nothing was committed
  // for `quiet`.
  explicit CommitQueue(Store& store, std::function<void()> yield = {},
                       std::chrono::milliseconds quiet = quiet_before_rest);
  ~CommitQueue();

  // `answer` is called once, from a thread of the queue: it must be quick, must not wait and must not call the store
  // (store_calls.h). It may submit.
  // ErrorCode::unavailable through `answer` when too much waits already.
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
  template <typename Given, typename Ask>
  Given wait_for(const Ask& ask) {
    std::optional<Given> answer;
    Expected expected(*this);
    expected.one_more();
    ask(std::function<void(Given)>([&](Given given) {
      answer.emplace(std::move(given));
      expected.answered();
    }));
    expected.wait();
    return std::move(*answer);
  }

  // For how long nothing was written, synced or answered although something is queued; zero when nothing is. Never
  // blocks. A commit that waits for a server elsewhere is not counted before `elsewhere_max`: that server is at fault,
  // not this process.
  std::chrono::nanoseconds stalled_for() const;
  static constexpr std::chrono::seconds elsewhere_max{120};

  // Whether the calling thread is inside a commit of this queue: what the store says meanwhile is about that commit.
  bool commits_here() const { return committing == this; }

  // What is queued is still written; later submissions are ErrorCode::unavailable.
  void stop();

 private:
  struct Batch {
    std::vector<std::vector<Unit>> parts;  // each in its place while later ones come
    std::vector<Answer> answers;
    std::optional<Result<std::vector<CommitOutcome>>> outcomes;
    std::size_t size() const { return answers.size(); }
  };
  // Batches on their way from one thread to another. Whoever is too quick waits.
  class Line {
   public:
    void push(Batch batch);
    std::optional<Batch> pop();  // nothing: it was closed, and nothing is left
    void close();

   private:
    std::mutex mutex_;
    // One for each side: a notification for one must not wake the other.
    std::condition_variable filled_, has_room_;
    std::deque<Batch> batches_;
    bool closed_ = false;
  };
  void run();
  void run_syncs();
  void run_answers();
  void wait_for_units(std::unique_lock<std::mutex>& lock);
  std::size_t waiting() const { return units_.size() - taken_; }
  void take_units(Batch& batch);
  // Keeps the room that an answered batch had, for those that come.
  void give_back(Batch& batch);
  // What came while the disk had the batch before: it can be worked on, and written when the disk is free.
  std::span<const Unit> take_more(Batch& batch);
  // Without threads. False: there is nothing to write, or as many write as the store can use.
  bool write_queued();
  void write(Batch& batch);
  void answer(Batch& batch);
  void note_progress();
  void note_submitted(std::size_t count);  // under the lock, before they are queued

  static thread_local const CommitQueue* committing;

  Store& store_;
  const std::function<void()> yield_;
  const std::chrono::milliseconds quiet_;
  std::mutex mutex_;
  std::condition_variable filled_;
  // What waits, after the first `taken_` that are gone: mostly all of it is taken at once, as it stands.
  std::vector<Unit> units_;
  std::vector<Answer> answers_;
  std::size_t taken_ = 0;
  std::vector<std::pair<std::vector<Unit>, std::vector<Answer>>> spare_;  // empty, with room
  bool stopping_ = false;
  bool rests_ = true;        // the store has nothing to forget
  std::size_t writing_ = 0;  // units in commits that are under way; without threads: activities that write now
  bool syncing_ = false;     // the disk has a batch
  bool wants_more_ = false;  // the writer sleeps inside a transaction

  // For `stalled_for`, which takes no lock.
  std::atomic<std::size_t> open_ = 0;          // units that are not answered yet
  std::atomic<std::size_t> in_commit_ = 0;     // threads inside the store's commit
  std::atomic<std::int64_t> progress_at_ = 0;  // nanoseconds of the steady clock

  Line unsynced_;    // committed ahead, to be settled
  Line unanswered_;  // committed, to be answered

  std::vector<std::jthread> writers_;
  std::jthread syncer_;  // where the store commits ahead
  std::jthread answerer_;
};

}  // namespace cairn
