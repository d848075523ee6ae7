#include "generated.h"

#include <fstream>
#include <functional>

namespace cairn {

namespace {

// Writes the steps of one definition.
class Author {
 public:
  Author(std::mt19937& random, GeneratedWorkflow& into) : random_(random), into_(into) {}

  void write() {
    into_.text = "cairn: 1\nname: " + into_.name + "\nversion: 1.0.0\n";
    if (draw(0, 2) == 0) into_.text += "checkpoint: step\n";
    into_.text += "steps:\n";
    const int steps = draw(3, 6);
    for (int i = 0; i < steps; ++i) step(1, "");
    effect(1, "");  // whatever was drawn, there is something to count
  }

 private:
  int draw(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  std::string next_name(const char* kind) { return kind + std::to_string(++count_); }
  void line(int depth, const std::string& text) {
    into_.text += std::string(2 * static_cast<std::size_t>(depth), ' ') + text + "\n";
  }

  // `loop` is the part of a label that names the iterations of the enclosing loop; empty outside a loop.
  void step(int depth, const std::string& loop) {
    switch (draw(0, depth > 1 ? 4 : 7)) {
      case 0:
      case 1: return effect(depth, loop);
      case 2: return line(depth, "- wait: " + std::to_string(draw(1, 60)) + "ms");
      case 3: return line(depth, "- set: { " + next_name("n") + ": = size(workflow.instance_id) }");
      case 4: return child(depth, loop);
      case 5: return person(depth);
      case 6: return branches(depth);
      case 7: return repetition(depth);
    }
  }

  void effect(int depth, const std::string& loop) {
    const std::string name = next_name("e");
    line(depth, "- id: " + name);
    line(depth, "  call:");
    line(depth, "    worker: { type: effect.v1, payload: { label: '= workflow.instance_id + \"/" + name + "\"" +
                    (loop.empty() ? "" : " + \"#\" + string(index)") + "' } }");
    line(depth, "    retry: { attempts: 1000, backoff: 1ms, cap: 10ms }");
    owe(name, loop);
  }

  void child(int depth, const std::string& loop) {
    const std::string name = next_name("c");
    line(depth, "- id: " + name);
    line(depth, "  subworkflow: { name: leaf, input: { label: '= workflow.instance_id + \"/" + name + "\"" +
                    (loop.empty() ? "" : " + \"#\" + string(index)") + "' } }");
    owe(name, loop);
  }

  void person(int depth) {
    if (draw(0, 1) == 0) return line(depth, "- task: { name: Approve }");
    const std::string name = into_.name + "." + next_name("s");
    line(depth, "- signal: { name: " + name + ", key: = workflow.instance_id }");
    into_.signals.push_back(name);
  }

  void branches(int depth) {
    line(depth, "- parallel:");
    line(depth, "    branches:");
    for (const char* name : {"left", "right"}) {
      line(depth, std::string("      ") + name + ":");
      step(depth + 4, "");
      effect(depth + 4, "");
    }
  }

  void repetition(int depth) {
    const std::string times = std::to_string(draw(2, 3));
    line(depth, "- repeat:");
    line(depth, "    times: " + times);
    line(depth, "    steps:");
    effect(depth + 3, times);
    step(depth + 3, times);
  }

  void owe(const std::string& name, const std::string& loop) {
    if (loop.empty()) {
      into_.effects.push_back("/" + name);
    } else {
      for (int i = 0; i < std::stoi(loop); ++i) into_.effects.push_back("/" + name + "#" + std::to_string(i));
    }
  }

  std::mt19937& random_;
  GeneratedWorkflow& into_;
  int count_ = 0;
};

}  // namespace

const char* child_workflow() {
  return "cairn: 1\nname: leaf\nversion: 1.0.0\nsteps:\n  - wait: 5ms\n  - call:\n      worker: { type: effect.v1, "
         "payload: "
         "{ label: = input.label } }\n      retry: { attempts: 1000, backoff: 1ms, cap: 10ms }\n";
}

std::vector<GeneratedWorkflow> generate_workflows(std::mt19937& random, std::size_t count) {
  std::vector<GeneratedWorkflow> workflows(count);
  for (std::size_t i = 0; i < count; ++i) {
    workflows[i].name = "g" + std::to_string(i);
    Author(random, workflows[i]).write();
  }
  return workflows;
}

std::vector<std::string> judge_ledger(const std::string& path, const std::set<std::string>& owed,
                                      std::size_t& repeats) {
  std::map<std::string, std::string> key_of, label_of;
  std::vector<std::string> complaints;
  std::ifstream file(path);
  repeats = 0;
  for (std::string label, key; file >> label >> key;) {
    const bool fresh = key_of.emplace(label, key).second;
    repeats += fresh ? 0 : 1;
    if (key_of[label] != key) complaints.push_back(label + " happened under two keys");
    if (label_of.emplace(key, label).first->second != label) complaints.push_back(key + " stands for two effects");
    if (fresh && !owed.contains(label)) complaints.push_back(label + " was never asked for");
  }
  for (const std::string& label : owed) {
    if (!key_of.contains(label)) complaints.push_back(label + " never happened");
  }
  return complaints;
}

}  // namespace cairn
