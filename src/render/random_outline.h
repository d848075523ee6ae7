// For tests and benchmarks: outlines with every construct, generated from a seed, the same on every machine.
#pragma once

#include <cstdint>

#include "render/outline.h"

namespace cairn::render {

class RandomOutline {
 public:
  explicit RandomOutline(std::uint64_t seed) : state_(seed * 2 + 1) {}

  // About `size` items, rarely more, with jumps to earlier steps.
  Outline make(int size) {
    Outline outline;
    outline.name = outline.title = "random";
    outline.version = "1.0.0";
    left_ = size;
    outline.items = sequence(0, true);
    while (left_ > 0) {
      for (Item& item : sequence(0, false)) outline.items.push_back(std::move(item));
    }
    return outline;
  }

  std::uint32_t below(std::uint32_t bound) {
    // xorshift64*, because no library generator guarantees the same bounded numbers on every platform.
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>(((state_ * 0x2545F4914F6CDD1DULL) >> 33) % bound);
  }

  Item plain_step() {
    static constexpr Shape shapes[] = {Shape::action, Shape::data,        Shape::task,  Shape::wait,
                                       Shape::signal, Shape::subworkflow, Shape::event, Shape::undo};
    Item item;
    item.shape = shapes[below(8)];
    item.step = "s" + std::to_string(made_++);
    item.label = words(6);
    if (below(8) == 0) item.detail = "when " + words(5);
    return item;
  }

 private:
  std::string words(std::uint32_t most) {
    static constexpr const char* vocabulary[] = {"check",
                                                 "application",
                                                 "of",
                                                 "customer",
                                                 "again",
                                                 "notify",
                                                 "supervisor",
                                                 "state.amount",
                                                 ">=",
                                                 "1000",
                                                 "Rückfrage",
                                                 "審査",
                                                 "internationalisation"};
    std::string text;
    for (std::uint32_t i = 0, count = 1 + below(most); i < count; ++i)
      text += (i ? " " : "") + std::string(vocabulary[below(13)]);
    return text;
  }

  std::vector<Item> sequence(int depth, bool may_be_empty) {
    std::vector<Item> items;
    std::uint32_t count = below(depth == 0 ? 12 : 4) + (may_be_empty ? 0 : 1);
    for (std::uint32_t i = 0; i < count && left_ > 0; ++i) items.push_back(item(depth));
    if (depth > 0 && below(5) == 0) items.push_back(ending());
    return items;
  }

  Item ending() {
    Item item;
    --left_;
    item.step = "s" + std::to_string(made_++);
    const std::uint32_t kind = below(3);
    item.shape = kind == 0 ? Shape::complete : kind == 1 ? Shape::fail : Shape::jump;
    item.label = words(3);
    if (item.shape == Shape::jump) item.target = "s" + std::to_string(below(static_cast<std::uint32_t>(made_)));
    return item;
  }

  Lane lane(LaneKind kind, std::string name, int depth, bool labelled) {
    Lane made;
    made.kind = kind;
    made.name = std::move(name);
    if (labelled && below(6) != 0) made.label = words(4);
    made.items = sequence(depth + 1, true);
    return made;
  }

  Item item(int depth) {
    --left_;
    const std::uint32_t kind = depth > 7 ? 20 : below(24);
    Item item = plain_step();
    if (kind < 4) {  // decision, race
      item.shape = kind < 3 ? Shape::decision : Shape::race;
      item.detail.clear();
      for (std::uint32_t i = 0, cases = 2 + below(3); i < cases; ++i) {
        item.lanes.push_back(lane(LaneKind::flow, "case" + std::to_string(i), depth, true));
      }
    } else if (kind == 4) {
      item.shape = Shape::fork;
      item.detail.clear();
      for (std::uint32_t i = 0, branches = 1 + below(4); i < branches; ++i) {
        item.lanes.push_back(lane(LaneKind::flow, "parallel." + std::to_string(i), depth, true));
      }
      if (below(2) == 0) item.joined = "1 of " + std::to_string(item.lanes.size());
    } else if (kind < 8) {
      static constexpr Shape containers[] = {Shape::loop, Shape::attempt, Shape::cleanup};
      item.shape = containers[kind - 5];
      item.detail.clear();
      item.lanes.push_back(lane(LaneKind::flow, "body", depth, false));
      if (item.shape == Shape::attempt) {
        for (std::uint32_t i = 0, catches = 1 + below(2); i < catches; ++i) {
          item.lanes.push_back(lane(LaneKind::failure, "catch" + std::to_string(i), depth, true));
        }
      }
    } else if (kind < 12) {  // a step with lanes of its own
      if (below(3) == 0) item.lanes.push_back(lane(LaneKind::flow, "on_complete", depth, false));
      if (below(2) == 0) item.lanes.push_back(lane(LaneKind::failure, "on_failure", depth, true));
      if (below(2) == 0) item.lanes.push_back(lane(LaneKind::timeout, "on_timeout", depth, true));
      if (below(4) == 0) item.lanes.push_back(lane(LaneKind::beside, "deadline", depth, true));
    }
    if (below(16) == 0) item.lanes.push_back(lane(LaneKind::compensation, "compensate", depth, true));
    return item;
  }

  std::uint64_t state_;
  int left_ = 0;
  int made_ = 0;
};

}  // namespace cairn::render
