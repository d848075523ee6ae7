#include "server/idempotent_answers.h"

namespace cairn::server {

IdempotentAnswers::Found IdempotentAnswers::begin(const std::string& scope, const std::string& request_hash,
                                                  std::optional<Response>& answer) {
  const std::scoped_lock lock(mutex_);
  drop_old();
  const auto [at, added] = entries_.try_emplace(scope);
  Entry& entry = at->second;
  if (added) {
    entry.request_hash = request_hash;
    entry.until = std::chrono::steady_clock::now() + kept;
    return Found::first;
  }
  if (entry.request_hash != request_hash) return Found::other_request;
  if (!entry.answer) return Found::in_progress;
  answer = entry.answer;
  return Found::repeat;
}

void IdempotentAnswers::keep(const std::string& scope, const Response& answer) {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(scope);
  if (found == entries_.end()) return;
  found->second.answer = answer;
  order_.push_back(scope);
}

void IdempotentAnswers::forget(const std::string& scope) {
  const std::scoped_lock lock(mutex_);
  entries_.erase(scope);
}

void IdempotentAnswers::drop_old() {
  const auto now = std::chrono::steady_clock::now();
  while (!order_.empty()) {
    const auto oldest = entries_.find(order_.front());
    if (oldest != entries_.end() && oldest->second.until > now && order_.size() <= answers_max) return;
    if (oldest != entries_.end()) entries_.erase(oldest);
    order_.pop_front();
  }
}

}  // namespace cairn::server
