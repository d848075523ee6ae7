// The names of enum values, the same in JSON, SQL and messages.
#include <array>
#include <utility>

#include "instance/advance.h"
#include "instance/failure.h"
#include "instance/snapshot.h"

namespace cairn {
namespace {

template <class Enum, std::size_t count>
using Words = std::array<std::pair<Enum, const char*>, count>;

template <class Enum, std::size_t count>
const char* word_of(const Words<Enum, count>& words, Enum value) {
  for (const auto& [known, word] : words) {
    if (known == value) return word;
  }
  return "unknown";
}

template <class Enum, std::size_t count>
std::optional<Enum> value_of(const Words<Enum, count>& words, std::string_view text) {
  for (const auto& [known, word] : words) {
    if (text == word) return known;
  }
  return std::nullopt;
}

constexpr Words<Status, 6> statuses{{{Status::running, "running"},
                                     {Status::waiting, "waiting"},
                                     {Status::suspended, "suspended"},
                                     {Status::completed, "completed"},
                                     {Status::failed, "failed"},
                                     {Status::cancelled, "cancelled"}}};

constexpr Words<WaitKind, 5> wait_kinds{{{WaitKind::task, "task"},
                                         {WaitKind::timer, "timer"},
                                         {WaitKind::signal, "signal"},
                                         {WaitKind::subworkflow, "subworkflow"},
                                         {WaitKind::run, "run"}}};

constexpr Words<TaskStatus, 5> task_statuses{{{TaskStatus::open, "open"},
                                              {TaskStatus::assigned, "assigned"},
                                              {TaskStatus::completed, "completed"},
                                              {TaskStatus::cancelled, "cancelled"},
                                              {TaskStatus::expired, "expired"}}};

constexpr Words<FailureClass, 7> failure_classes{{{FailureClass::definition, "definition"},
                                                  {FailureClass::expression, "expression"},
                                                  {FailureClass::transport, "transport"},
                                                  {FailureClass::timeout, "timeout"},
                                                  {FailureClass::authorization, "authorization"},
                                                  {FailureClass::consistency, "consistency"},
                                                  {FailureClass::business, "business"}}};

constexpr Words<LogEntry::Kind, 8> log_kinds{{{LogEntry::Kind::started, "started"},
                                              {LogEntry::Kind::completed, "completed"},
                                              {LogEntry::Kind::faulted, "faulted"},
                                              {LogEntry::Kind::suspended, "suspended"},
                                              {LogEntry::Kind::resumed, "resumed"},
                                              {LogEntry::Kind::skipped, "skipped"},
                                              {LogEntry::Kind::cancelled, "cancelled"},
                                              {LogEntry::Kind::edited, "edited"}}};

}  // namespace

const char* to_string(Status status) { return word_of(statuses, status); }
std::optional<Status> status_from(std::string_view text) { return value_of(statuses, text); }

const char* to_string(WaitKind kind) { return word_of(wait_kinds, kind); }
std::optional<WaitKind> wait_kind_from(std::string_view text) { return value_of(wait_kinds, text); }

const char* to_string(TaskStatus status) { return word_of(task_statuses, status); }
std::optional<TaskStatus> task_status_from(std::string_view text) { return value_of(task_statuses, text); }

const char* to_string(FailureClass value) { return word_of(failure_classes, value); }
std::optional<FailureClass> failure_class_from(std::string_view text) { return value_of(failure_classes, text); }

const char* to_string(LogEntry::Kind kind) { return word_of(log_kinds, kind); }
std::optional<LogEntry::Kind> log_kind_from(std::string_view text) { return value_of(log_kinds, text); }

}  // namespace cairn
