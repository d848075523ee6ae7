#include "plan.h"

#include <charconv>

#include "dice.h"

namespace cairn::sim {

namespace {

struct FaultKind {
  const char* name;
  int rate_max;  // of 10 000 opportunities
};

constexpr std::array<FaultKind, fault_count> fault_kinds = {{
    {"crash", 60},          {"pause", 40},          {"error", 300},         {"lost_answer", 300},
    {"slow", 200},          {"outage", 15},         {"wakeup_lost", 5000},  {"wakeup_late", 5000},
    {"wakeup_twice", 5000}, {"power_loss", 60},     {"write_error", 40},    {"sync_error", 300},
    {"double_click", 3000}, {"stale_form", 2000},   {"wrong_person", 2000}, {"odd_payload", 1500},
    {"stray_signal", 4000}, {"signal_again", 4000}, {"worker_dies", 1500},  {"worker_hangs", 1500},
    {"worker_fails", 3000}, {"report_again", 3000}, {"cancel", 2500},       {"suspend", 2500},
    {"edit", 1500},         {"skip", 2500},         {"run_cancelled", 600}, {"replay", 3000},
    {"deploy", 2000},       {"retention", 2500},
}};

// The members of a plan besides its rates, by the names that people write.
template <class Visit>
void each_number(Plan& plan, const Visit& visit) {
  visit("nodes", plan.nodes);
  visit("clients", plan.clients);
  visit("workers", plan.workers);
  visit("operators", plan.operators);
  visit("clerks", plan.clerks);
  visit("instances", plan.instances);
  visit("actions", plan.actions);
  visit("cached", plan.snapshots_cached);
  visit("writers", plan.writers);
  visit("pieces", plan.piece_bytes_min);
}

}  // namespace

const char* to_string(Fault fault) { return fault_kinds[static_cast<std::size_t>(fault)].name; }

Plan plan_of(std::uint64_t seed) {
  Dice dice(seed);
  Plan plan;
  plan.seed = seed;
  plan.workflow_seed = dice.next() >> 32;
  plan.store = dice.chance(25) ? StoreKind::sqlite : StoreKind::memory;
  plan.nodes = plan.store == StoreKind::sqlite ? 1 : dice.between(1, 4);
  plan.clients = dice.between(1, 4);
  plan.workers = dice.between(1, 3);
  plan.operators = dice.chance(60) ? 1 : 0;
  plan.instances = dice.between(1, 10);
  plan.actions = dice.between(5, 40);
  plan.local_leases = dice.chance(40);
  plan.snapshots_cached = dice.chance(20) ? dice.between(0, 2) : 4096;
  for (std::size_t i = 0; i < fault_count; ++i) {
    const bool exists = dice.chance(50);
    const int rate = dice.between(1, fault_kinds[i].rate_max);
    plan.rates[i] = exists ? rate : 0;
  }
  plan.clerks = dice.chance(30) ? 1 : 0;
  plan.writers = plan.store == StoreKind::sqlite ? 1 : dice.between(1, 3);
  plan.piece_bytes_min = dice.chance(50) ? dice.between(80, 300) : 0;
  return plan;
}

Plan recorded(Plan plan) {
  plan.record = true;
  for (const Fault fault : {Fault::retention, Fault::deploy, Fault::run_cancelled, Fault::replay}) plan.rate(fault) = 0;
  plan.clerks = 0;
  return plan;
}

std::string write_plan(const Plan& plan) {
  std::string text = "workflow=" + std::to_string(plan.workflow_seed);
  text += std::string(",store=") + (plan.store == StoreKind::sqlite ? "sqlite" : "memory");
  each_number(const_cast<Plan&>(plan),
              [&](const char* name, int value) { text += std::string(",") + name + "=" + std::to_string(value); });
  if (plan.local_leases) text += ",local";
  if (plan.record) text += ",record";
  for (std::size_t i = 0; i < fault_count; ++i) {
    if (plan.rates[i] > 0) text += std::string(",") + fault_kinds[i].name + "=" + std::to_string(plan.rates[i]);
  }
  return text;
}

Result<Plan> read_plan(std::uint64_t seed, const std::string& text) {
  Plan plan;
  plan.seed = seed;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    if (name == "local") {
      plan.local_leases = true;
      continue;
    }
    if (name == "record") {
      plan.record = true;
      continue;
    }
    if (name == "store") {
      plan.store = value == "sqlite" ? StoreKind::sqlite : StoreKind::memory;
      continue;
    }
    std::uint64_t number = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), number).ec != std::errc()) {
      return Error{ErrorCode::invalid, "plan: " + item + " has no number"};
    }
    bool known = name == "workflow";
    if (known) plan.workflow_seed = number;
    each_number(plan, [&](const char* member, int& into) {
      if (name == member) {
        into = static_cast<int>(number);
        known = true;
      }
    });
    for (std::size_t i = 0; i < fault_count; ++i) {
      if (name == fault_kinds[i].name) {
        plan.rates[i] = static_cast<int>(number);
        known = true;
      }
    }
    if (!known) return Error{ErrorCode::invalid, "plan: there is no " + name};
  }
  return plan;
}

}  // namespace cairn::sim
