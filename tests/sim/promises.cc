#include "promises.h"

#include "store/projection.h"

namespace cairn::sim {

void Promises::started(const std::string& key, const InstanceAnswer& answer, const Chronicle& chronicle) {
  const std::string& id = answer.instance.value;
  if (!chronicle.instances().contains(id)) {
    broken("I-03 starts", "the start of instance " + id + " was acknowledged and nobody committed it");
  }
  if (!key.empty()) {
    const auto first = by_key_.emplace(key, id);
    if (first.first->second != id) {
      broken("I-04 idempotency", "key " + key + " was answered with " + first.first->second + " and with " + id);
    }
    if (!first.second) return;
  }
  instances_.push_back(answer.instance);
}

void Promises::completed(const TaskCompletion& completion, const InstanceAnswer&, const Chronicle& chronicle) {
  const auto task = chronicle.tasks().find(completion.task.value);
  if (task == chronicle.tasks().end() || task->second.status != TaskStatus::completed) {
    return broken("I-13 task events",
                  "the completion of task " + completion.task.value + " was acknowledged and it is not completed");
  }
  if (task->second.by != completion.actor.name || task->second.payload != completion.payload) {
    broken("I-13 task events", "the completion of task " + completion.task.value + " by " + completion.actor.name +
                                   " was acknowledged and it was completed by " + task->second.by +
                                   " or with another payload");
  }
  completed_[completion.task.value] = {completion.actor.name, completion.payload};
}

void Promises::signalled(const InstanceId& instance, const std::string& signal, const Chronicle& chronicle) {
  if (!chronicle.applied(signal)) {
    broken("I-10 signals",
           "signal " + signal + " to instance " + instance.value + " was acknowledged and never applied");
  }
}

void Promises::broadcast(const SignalRequest& request, Timestamp until) {
  broadcast_.emplace(request.id, Sent{request.name, request.key, until});
}

void Promises::cancelled(const InstanceAnswer& answer, const Chronicle& chronicle) {
  const auto found = chronicle.instances().find(answer.instance.value);
  if (found == chronicle.instances().end() || !is_final(found->second.status)) {
    broken("I-23 cancel",
           "the cancellation of instance " + answer.instance.value + " was acknowledged and it has not ended");
  }
}

void Promises::check_signals(Store& store, const Chronicle& chronicle, Timestamp now) {
  for (const auto& [id, sent] : broadcast_) {
    if (chronicle.applied(id) || sent.until <= now) continue;
    for (const auto& [instance, known] : chronicle.instances()) {
      if (is_final(known.status) || known.removed) continue;
      const auto waits = store.list_waits({instance});
      if (!waits) continue;
      for (const Wait& wait : *waits) {
        if (wait.kind != WaitKind::signal || wait.name != sent.name || !takes(wait.key, sent.key)) continue;
        broken("I-10 signals",
               "signal " + id + " was accepted, instance " + instance + " waits for it, and it was never applied");
      }
    }
  }
}

void Promises::check(Store& store, const Chronicle& chronicle) {
  for (const InstanceId& id : instances_) {
    if (chronicle.instances().at(id.value).removed) continue;
    const auto row = store.find_instance(id);
    if (!row || !*row) broken("I-03 starts", "instance " + id.value + " was acknowledged and is missing");
  }
  for (const auto& [task, by] : completed_) {
    const auto known = chronicle.tasks().find(task);
    if (known == chronicle.tasks().end() || chronicle.instances().at(known->second.instance.value).removed) continue;
    const auto row = store.find_task({task});
    if (!row || !*row || (**row).status != TaskStatus::completed || (**row).completed_by != by.first) {
      broken("I-13 task events", "the acknowledged completion of task " + task + " is missing");
    }
  }
}

}  // namespace cairn::sim
