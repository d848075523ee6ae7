// src/runs holds what a node keeps in memory about runs: waiting workers, recently leased runs, submissions and run
// types. LeaseWaiters is where workers outside this process wait for runs without a thread each. A run that is about to
// be written is promised to a waiting worker of its type: it starts out leased and needs no commit for the lease. The
// module uses base, expr, instance and store, but not the engine, which calls it. Read `LeaseWaiters::ask` first.
//
// Requests are served in order of arrival, and requests for the same types share one query of the store.
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

#include "base/done.h"
#include "base/limits.h"
#include "store/run_store.h"

namespace cairn {

class LeaseWaiters {
 public:
  // Whether the client is still connected. A run leased to a disconnected client would wait until its lease expires.
  using Listening = std::function<bool()>;

 private:
  struct Place {
    LeaseRequest request;
    std::chrono::steady_clock::time_point until;
    Done<Result<std::vector<RunRow>>> done;
    Listening listening;
    std::size_t promised = 0;
    std::vector<RunRow> kept = {};  // promised runs that were written; sent when no more will come
  };
  using Places = std::list<Place>;

 public:
  // `store` must outlive it. `waiting_max`: how many requests may wait.
  explicit LeaseWaiters(RunStore& store, std::size_t waiting_max = Limits().lease_waiters_max);
  ~LeaseWaiters();

  // New runs for one waiting request. The thread that resolves the last promise of a request answers it. Promises that
  // are not kept when this is destroyed are released.
  class Promise {
   public:
    ~Promise();
    const RunLease& lease() const { return lease_; }
    // Records a run that started out leased.
    void keep(RunRow run);

   private:
    friend class LeaseWaiters;
    LeaseWaiters* waiters_ = nullptr;
    Places::iterator place_;
    std::size_t open_ = 0;
    RunLease lease_;
  };
  // Promises one run of each of these types to one waiting request; null if no request waits for all of them.
  // LeaseWaiters must outlive the promise.
  std::shared_ptr<Promise> promise(std::span<const std::string> types);

  // Calls `done` once: immediately if runs are ready, otherwise when some arrive, or with none after `wait`. The call
  // comes from this thread, from the internal thread or from the thread that keeps a promise. `done` must not call
  // back into this object.
  void ask(LeaseRequest request, std::chrono::milliseconds wait, Done<Result<std::vector<RunRow>>> done,
           Listening listening = {});
  // Releases runs whose worker did not receive the answer, so that others can lease them at once. Does not block;
  // callable from any thread. The internal thread writes the release.
  void give_back(std::span<const RunRow> runs);
  // Tells that runs may be ready. Does not block; callable from any thread.
  void look();
  // Answers every waiting request, and every later one, with no runs.
  void stop();

  std::size_t waiting() const;

 private:
  using Question = std::tuple<std::vector<std::string>, std::vector<std::string>>;
  static Question question_of(const LeaseRequest& request);
  // How often `look` was called. Results of earlier queries may be outdated.
  using Looks = std::uint64_t;

  void run();
  void release(const std::vector<RunChange>& returned);
  // True if the store recently had no more runs for this question, and `look` was not called since. Requires the lock.
  bool is_drained(const Question& question) const;
  void note_drained(Question question, Looks asked_at);
  Looks looks() const;
  struct Leased {
    std::vector<RunRow> runs;
    std::optional<Error> error;  // then there are no runs
    bool more = false;           // the request took all that it may: the store may have more
  };
  // Asks the store for this request, and releases what exceeds its bytes.
  Leased lease(const LeaseRequest& request);
  // The runs up to the request's bytes; the others are released at once.
  std::vector<RunRow> within_bytes(const LeaseRequest& request, std::vector<RunRow> runs);
  // How many runs of this question fit into so many bytes, judging by the last ones.
  std::size_t expected_to_fit(const Question& question, std::size_t bytes) const;
  void note_size(const Question& question, std::size_t bytes);
  // Leases runs for the waiting requests, in their order.
  void serve(Places& places, Places& answered);
  bool is_promised() const;
  // Removes a request without open promises from the line if it has runs. Requires the lock.
  Places take_complete(Places::iterator place);
  // Answers a request with the promised runs.
  void hand_out(Place& place);
  void end_overdue();
  void release_returned();

  RunStore& store_;
  const std::size_t waiting_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Places waiting_;
  std::size_t serving_ = 0;  // requests taken out of the line for a query of the store
  Looks looks_ = 0;
  std::map<Question, std::chrono::steady_clock::time_point> drained_;  // when the query returned nothing more
  std::map<Question, std::size_t> sizes_;                              // bytes of a run of the last answer
  std::vector<RunChange> returned_;                                    // to be released
  bool look_ = false;
  bool sooner_ = false;  // a request arrived that expires before the thread would wake up
  std::chrono::steady_clock::time_point sleeps_until_ = std::chrono::steady_clock::time_point::max();
  bool stopping_ = false;
  std::jthread thread_;  // started by the first request that waits
};

}  // namespace cairn
