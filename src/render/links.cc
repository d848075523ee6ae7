#include "render/links.h"

namespace cairn::render {
namespace {

// An exit that is not connected yet.
struct Loose {
  int node = -1;
  LaneKind kind = LaneKind::flow;
  std::string label;
};

class Linking {
 public:
  std::vector<Link> run(const Outline& outline, int start, int end) {
    std::vector<Loose> loose = sequence(outline.items, {{start, LaneKind::flow, ""}});
    if (end >= 0) tie(loose, end);
    return std::move(links_);
  }

 private:
  void tie(const std::vector<Loose>& loose, int to, bool back = false) {
    for (const Loose& one : loose) links_.push_back({one.node, to, one.kind, back, one.label});
  }

  std::vector<Loose> sequence(const std::vector<Item>& items, std::vector<Loose> loose) {
    for (const Item& item : items) {
      tie(loose, item.node);
      loose = leave(item);
    }
    return loose;
  }

  static void append(std::vector<Loose>& to, std::vector<Loose> more) {
    for (Loose& one : more) to.push_back(std::move(one));
  }

  std::vector<Loose> leave(const Item& item) {
    const bool ends = item.shape == Shape::complete || item.shape == Shape::fail || item.shape == Shape::jump;
    const bool holds = item.shape == Shape::loop || item.shape == Shape::attempt || item.shape == Shape::cleanup;
    std::vector<Loose> out;
    bool has_flow = false;
    for (const Lane& lane : item.lanes) {
      std::vector<Loose> ways = sequence(lane.items, {{item.node, lane.kind, lane.label}});
      if (lane.kind == LaneKind::beside || lane.kind == LaneKind::compensation) continue;
      if (lane.kind == LaneKind::flow) has_flow = true;
      if (lane.kind == LaneKind::flow && item.shape == Shape::loop) {
        tie(ways, item.node, true);
        continue;
      }
      append(out, std::move(ways));
    }
    if (item.shape == Shape::fork && item.join_node >= 0) {
      tie(out, item.join_node);
      return {{item.join_node, LaneKind::flow, ""}};
    }
    if (item.shape == Shape::loop) out.push_back({item.node, LaneKind::flow, "done"});
    if (!has_flow && !ends && !holds) out.insert(out.begin(), {item.node, LaneKind::flow, ""});
    return out;
  }

  std::vector<Link> links_;
};

void add_rows(const std::vector<Item>& items, int depth, std::vector<Row>& rows) {
  for (const Item& item : items) {
    rows.push_back({depth, item.node, LaneKind::flow, ""});
    for (const Lane& lane : item.lanes) {
      const bool named = !lane.label.empty();
      if (lane.items.empty() && lane.kind == LaneKind::flow) continue;
      if (named) rows.push_back({depth + 1, -1, lane.kind, lane.label});
      add_rows(lane.items, depth + (named ? 2 : 1), rows);
    }
  }
}

}  // namespace

std::vector<Link> links_of(const Outline& outline, int start, int end) { return Linking().run(outline, start, end); }

std::vector<Row> rows_of(const Outline& outline) {
  std::vector<Row> rows;
  add_rows(outline.items, 0, rows);
  return rows;
}

}  // namespace cairn::render
