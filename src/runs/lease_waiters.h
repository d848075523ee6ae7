// Where workers outside this process wait for runs: many of them, without a thread for each. Whoever
// came first is served first; those who ask for the same types cost one look at the store together. A run that is
// about to be written is promised to somebody who waits for its type: it begins leased, and the lease costs no commit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "store/store.h"

namespace cairn {

class LeaseWaiters {
 public:
  static constexpr std::size_t waiting_max = 10'000;

  using Answer = std::function<void(Result<std::vector<RunRow>>)>;
  // Whether somebody still listens. What is leased to nobody would wait for the end of its lease.
  using Listening = std::function<bool()>;

 private:
  struct Place {
    LeaseRequest request;
    std::chrono::steady_clock::time_point until;
    Answer answer;
    Listening listening;
    std::size_t promised = 0;
    std::vector<RunRow> kept = {};  // of what was promised; answered when nothing more is to come
  };
  using Places = std::list<Place>;

 public:
  // `store` outlives it.
  explicit LeaseWaiters(Store& store);
  ~LeaseWaiters();

  // New runs for somebody who waits, answered by whoever settles the last of what they were promised. What is not kept
  // by the time it is dropped is open again.
  class Promise {
   public:
    ~Promise();
    const RunLease& lease() const { return lease_; }
    // A run that began leased.
    void keep(RunRow run);

   private:
    friend class LeaseWaiters;
    LeaseWaiters* desk_ = nullptr;
    Places::iterator place_;
    std::size_t open_ = 0;
    RunLease lease_;
  };
  // For one run of each of these types; nothing when nobody waits for all of them. The desk outlives it.
  std::shared_ptr<Promise> promise(std::span<const std::string> types);

  // `answer` is called once: at once when runs are ready, else when some have come, with none when the
  // time is over. From this thread, the desk's, or the one that keeps a promise; it must not call back here.
  void ask(LeaseRequest request, std::chrono::milliseconds wait, Answer answer, Listening listening = {});
  // Runs that were leased to a worker whom the answer did not reach: others may have them at once. Quick, from any
  // thread; they are released by the desk's own.
  void give_back(std::span<const RunRow> runs);
  // Runs may be ready. Quick, from any thread.
  void look();
  // Everybody who waits is answered with nothing; later ones are too, at once.
  void stop();

  std::size_t waiting() const;

 private:
  using Question = std::tuple<std::vector<std::string>, std::vector<std::string>>;
  static Question question_of(const LeaseRequest& request);
  // How often somebody said that runs may be ready; what was found out earlier may be wrong by now.
  using Looks = std::uint64_t;

  void run();
  void release(const std::vector<RunChange>& returned);
  // Whether the store had nothing more of it a moment ago, and nobody said that something has come since. Under the
  // lock.
  bool is_drained(const Question& question) const;
  void note_drained(Question question, Looks asked_at);
  Looks looks() const;
  // Leases for those who wait, in their order.
  void serve(Places& places, Places& answered);
  bool is_promised() const;
  // One who has no promise open any more leaves the line if there is something for them. Under the lock.
  Places settled(Places::iterator place);
  void end_overdue();
  void release_returned();

  Store& store_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Places waiting_;
  std::size_t serving_ = 0;  // taken out of the line for a look at the store
  Looks looks_ = 0;
  std::map<Question, std::chrono::steady_clock::time_point> drained_;  // when that was found out
  std::vector<RunChange> returned_;                                    // to be released
  bool look_ = false;
  bool sooner_ = false;  // somebody came whose time ends before the thread would look up
  std::chrono::steady_clock::time_point sleeps_until_ = std::chrono::steady_clock::time_point::max();
  bool stopping_ = false;
  std::jthread thread_;  // from the first one who waits on
};

}  // namespace cairn
