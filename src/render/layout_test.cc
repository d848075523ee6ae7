#include "render/layout.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "render/layout_faults.h"
#include "render/nodes.h"
#include "render/random_outline.h"

namespace cairn::render {
namespace {

// 1 000 here; ./dev check runs 10 000.
int trees_to_try() {
  const char* asked = std::getenv("CAIRN_RENDER_TREES");
  return asked ? std::atoi(asked) : 1000;
}

std::uint64_t first_seed() {
  const char* asked = std::getenv("CAIRN_RENDER_SEED");
  return asked ? std::strtoull(asked, nullptr, 10) : 1;
}

// Mostly medium sizes, some up to 300.
int size_for(std::uint64_t seed) { return seed % 10 == 0 ? 300 : static_cast<int>(5 + seed * 7 % 90); }

int middle(const Layout& layout, int node) {
  const Box& box = layout.nodes[static_cast<std::size_t>(node)].box;
  return layout.direction == Direction::down ? box.x + box.width / 2 : box.y + box.height / 2;
}

void expect_order(const std::vector<Item>& items, const Layout& layout, const std::string& where) {
  for (const Item& item : items) {
    const bool columns = item.shape == Shape::decision || item.shape == Shape::race || item.shape == Shape::fork;
    int before = -1;
    for (const Lane& lane : item.lanes) {
      expect_order(lane.items, layout, where);
      if (lane.items.empty() || (lane.kind == LaneKind::flow && !columns)) continue;
      const int here = middle(layout, lane.items.front().node);
      EXPECT_GT(here, before) << where << ", lanes of " << item.step << " are not in the order written";
      before = here;
    }
  }
}

void expect_straight(const std::vector<Item>& items, const Layout& layout, const std::string& where) {
  for (const Item& item : items) {
    EXPECT_EQ(middle(layout, item.node), middle(layout, items.front().node)) << where << ", " << item.step;
    for (const Lane& lane : item.lanes) expect_straight(lane.items, layout, where);
  }
}

TEST(Layout, RandomTreesHaveNoFaults) {
  std::size_t nodes = 0;
  std::size_t most = 0;
  const std::uint64_t from = first_seed();
  const std::uint64_t to = from + static_cast<std::uint64_t>(trees_to_try());
  for (std::uint64_t seed = from; seed < to && !HasFailure(); ++seed) {
    for (const Direction direction : {Direction::down, Direction::right}) {
      const std::string where = "seed " + std::to_string(seed) + (direction == Direction::down ? " down" : " right");
      Outline outline = RandomOutline(seed).make(size_for(seed));
      const Layout layout = layout_of(outline, direction);
      nodes += layout.nodes.size();
      most = std::max(most, layout.nodes.size());
      for (const std::string& fault : layout_faults(layout)) ADD_FAILURE() << where << ": " << fault;
      nodes_of(outline);  // numbers the items as the layout did
      expect_order(outline.items, layout, where);
      expect_straight(outline.items, layout, where);
    }
  }
  std::printf("seeds %llu to %llu, %zu nodes, at most %zu in one picture\n", static_cast<unsigned long long>(from),
              static_cast<unsigned long long>(to - 1), nodes, most);
  EXPECT_GT(most, 200u);
}

// Collects every list of steps that is not empty, including the root.
void collect_sequences(std::vector<Item>& items, std::vector<std::vector<Item>*>& into) {
  if (!items.empty()) into.push_back(&items);
  for (Item& item : items) {
    for (Lane& lane : item.lanes) collect_sequences(lane.items, into);
  }
}

std::map<std::string, int> places_from_start(const Layout& layout) {
  std::map<std::string, int> places;
  for (std::size_t i = 1; i < layout.nodes.size(); ++i) {
    const Node& node = layout.nodes[i];
    const int place = middle(layout, static_cast<int>(i)) - middle(layout, 0);
    places[node.step + "/" + to_string(node.shape)] = place;
  }
  return places;
}

TEST(Layout, AStepMoreMovesNothingSideways) {
  for (std::uint64_t seed = first_seed();
       seed < first_seed() + static_cast<std::uint64_t>(trees_to_try()) && !HasFailure(); ++seed) {
    RandomOutline random(seed);
    Outline outline = random.make(size_for(seed));
    const auto before = places_from_start(layout_of(outline));
    std::vector<std::vector<Item>*> sequences;
    collect_sequences(outline.items, sequences);
    std::vector<Item>& chosen = *sequences[random.below(static_cast<std::uint32_t>(sequences.size()))];
    Item added = random.plain_step();
    added.step = "added";
    const auto at = static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint32_t>(chosen.size())));
    chosen.insert(chosen.begin() + at, added);
    const auto after = places_from_start(layout_of(outline));
    for (const auto& [step, place] : before) {
      EXPECT_EQ(after.at(step), place) << "seed " << seed << ": " << step << " moved sideways";
    }
  }
}

TEST(Layout, IsTheSameEachTimeAndSurvivesJson) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Outline outline = RandomOutline(seed).make(60);
    const Layout layout = layout_of(outline, seed % 2 ? Direction::down : Direction::right);
    const Json json = layout_json(layout);
    EXPECT_EQ(write_json(json), write_json(layout_json(layout_of(outline, layout.direction))));
    const Result<Layout> again = read_layout(json);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(write_json(layout_json(*again)), write_json(json));
  }
}

TEST(Layout, WhatDoesNotAddUpIsRefused) {
  const Json good = layout_json(layout_of(RandomOutline(3).make(20)));
  ASSERT_TRUE(read_layout(good));
  EXPECT_FALSE(read_layout(Json()));
  Json changed = good;
  changed.set("layout", layout_version + 1);
  EXPECT_FALSE(read_layout(changed));
  changed = good;
  changed.edit("links").edit_items().front().set("to", 100'000);
  EXPECT_FALSE(read_layout(changed));
  changed = good;
  changed.edit("edges").edit_items().front().set("points", Json::array({1, 2, 3}));
  EXPECT_FALSE(read_layout(changed));
  changed = good;
  changed.edit("nodes").edit_items().front().set("shape", "circle");
  EXPECT_FALSE(read_layout(changed));
}

TEST(Layout, NothingButAStartAndAnEnd) {
  Outline empty;
  const Layout layout = layout_of(empty);
  ASSERT_EQ(layout.nodes.size(), 2u);
  EXPECT_EQ(layout.edges.size(), 1u);
  EXPECT_TRUE(layout_faults(layout).empty());
}

TEST(Layout, CollapsingLeavesOneStepPerBlock) {
  Outline outline = RandomOutline(10).make(200);
  const std::size_t main_path = outline.items.size();
  collapse(outline, 0);
  const Layout layout = layout_of(outline);
  EXPECT_LE(layout.nodes.size(), main_path + 2);
  EXPECT_TRUE(layout_faults(layout).empty());
  for (const Item& item : outline.items) EXPECT_TRUE(item.lanes.empty());
}

}  // namespace
}  // namespace cairn::render
