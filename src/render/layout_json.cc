#include "render/layout.h"

namespace cairn::render {
namespace {

void put_box(Json& into, const Box& box) {
  into.set("x", box.x);
  into.set("y", box.y);
  into.set("width", box.width);
  into.set("height", box.height);
}

// False and empty members are omitted; a reader treats missing members as such.
void put(Json& into, const char* key, bool value) {
  if (value) into.set(key, true);
}
void put(Json& into, const char* key, const std::string& value) {
  if (!value.empty()) into.set(key, value);
}
void put_node_number(Json& into, const char* key, int node) {
  if (node >= 0) into.set(key, node);
}
void put_kind(Json& into, LaneKind kind) {
  if (kind != LaneKind::flow) into.set("kind", to_string(kind));
}

Json node_json(const Node& node) {
  Json json = Json::object({{"shape", to_string(node.shape)}});
  put(json, "step", node.step);
  put(json, "part", node.part);
  put(json, "text", node.text);
  put(json, "detail", node.detail);
  put(json, "target", node.target);
  Json lines = Json::array();
  for (const std::string& line : node.lines) lines.push_back(line);
  if (!node.lines.empty()) json.set("lines", std::move(lines));
  put_box(json, node.box);
  return json;
}

Json edge_json(const Edge& edge) {
  Json json = Json::object();
  put_kind(json, edge.kind);
  put(json, "back", edge.back);
  put(json, "arrow", edge.arrow);
  put(json, "choice", edge.choice);
  put(json, "bypass", edge.bypass);
  put_node_number(json, "from", edge.from);
  put_node_number(json, "to", edge.to);
  Json points = Json::array();
  for (const Point& point : edge.points) {
    points.push_back(point.x);
    points.push_back(point.y);
  }
  json.set("points", std::move(points));
  if (!edge.label.text.empty()) {
    Json label = Json::object({{"text", edge.label.text}});
    put(label, "whole", edge.label.whole);
    put_box(label, edge.label.box);
    json.set("label", std::move(label));
  }
  return json;
}

Json container_json(const Container& container) {
  Json json = Json::object({{"header", container.header}});
  put_box(json, container.box);
  return json;
}

Json link_json(const Link& link) {
  Json json = Json::object({{"from", link.from}, {"to", link.to}});
  put_kind(json, link.kind);
  put(json, "back", link.back);
  put(json, "label", link.label);
  return json;
}

Json row_json(const Row& row) {
  Json json = Json::object({{"depth", row.depth}});
  put_node_number(json, "node", row.node);
  put_kind(json, row.kind);
  put(json, "lane", row.lane);
  return json;
}

template <class T>
Json list_json(const std::vector<T>& values, Json (*one)(const T&)) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(one(value));
  return list;
}

// Reads members of one object and remembers whether any was invalid.
class Reading {
 public:
  explicit Reading(int nodes) : nodes_(nodes) {}

  int number(const Json& json, std::string_view key) {
    const Json* found = json.find(key);
    // Our layouts never have coordinates this large.
    if (!found || !found->is_integer() || found->as_integer() < 0 || found->as_integer() > 10'000'000) {
      fits = false;
      return 0;
    }
    return static_cast<int>(found->as_integer());
  }
  int node(const Json& json, std::string_view key) {
    if (!json.find(key)) return -1;
    const int index = number(json, key);
    if (index >= nodes_) fits = false;
    return fits ? index : -1;
  }
  bool flag(const Json& json, std::string_view key) {
    const Json& found = json[key];
    return found.is_bool() && found.as_bool();
  }
  std::string text(const Json& json, std::string_view key) { return std::string(json.text_or(key, "")); }
  Box box(const Json& json) {
    return {number(json, "x"), number(json, "y"), number(json, "width"), number(json, "height")};
  }
  const Json::Array& list(const Json& json, std::string_view key) {
    static const Json::Array nothing;
    const Json* found = json.find(key);
    if (!found) return nothing;
    if (found->is_array()) return found->items();
    fits = false;
    return nothing;
  }
  LaneKind kind(const Json& json) {
    const std::string_view name = json.text_or("kind", "flow");
    for (const LaneKind kind :
         {LaneKind::flow, LaneKind::failure, LaneKind::timeout, LaneKind::beside, LaneKind::compensation}) {
      if (name == to_string(kind)) return kind;
    }
    fits = false;
    return LaneKind::flow;
  }
  Shape shape(const Json& json) {
    const std::string_view name = json.text_or("shape", "");
    for (int i = 0; i <= static_cast<int>(Shape::collapsed); ++i) {
      if (name == to_string(static_cast<Shape>(i))) return static_cast<Shape>(i);
    }
    fits = false;
    return Shape::action;
  }

  bool fits = true;

 private:
  int nodes_;
};

void read_edge(Reading& reading, const Json& json, Edge& edge) {
  edge.kind = reading.kind(json);
  edge.back = reading.flag(json, "back");
  edge.arrow = reading.flag(json, "arrow");
  edge.choice = reading.flag(json, "choice");
  edge.bypass = reading.flag(json, "bypass");
  edge.from = reading.node(json, "from");
  edge.to = reading.node(json, "to");
  const Json::Array& numbers = reading.list(json, "points");
  if (numbers.size() < 4 || numbers.size() % 2 != 0) reading.fits = false;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
    const Json point = Json::object({{"x", numbers[i]}, {"y", numbers[i + 1]}});
    edge.points.push_back({reading.number(point, "x"), reading.number(point, "y")});
  }
  if (const Json* label = json.find("label")) {
    edge.label = {reading.text(*label, "text"), reading.text(*label, "whole"), reading.box(*label)};
  }
}

}  // namespace

Json layout_json(const Layout& layout) {
  return Json::object({
      {"layout", layout_version},
      {"name", layout.name},
      {"version", layout.version},
      {"title", layout.title},
      {"heading", layout.heading},
      {"digest", layout.digest},
      {"direction", layout.direction == Direction::down ? "down" : "right"},
      {"width", layout.width},
      {"height", layout.height},
      {"nodes", list_json(layout.nodes, node_json)},
      {"edges", list_json(layout.edges, edge_json)},
      {"containers", list_json(layout.containers, container_json)},
      {"links", list_json(layout.links, link_json)},
      {"rows", list_json(layout.rows, row_json)},
  });
}

Result<Layout> read_layout(const Json& json) {
  const Json& version = json["layout"];
  if (!version.is_integer() || version.as_integer() != layout_version) {
    return Error{ErrorCode::invalid, "not a layout of version " + std::to_string(layout_version)};
  }
  const Json& nodes = json["nodes"];
  Reading reading(static_cast<int>(nodes.size()));
  Layout layout;
  layout.name = reading.text(json, "name");
  layout.version = reading.text(json, "version");
  layout.title = reading.text(json, "title");
  layout.heading = reading.text(json, "heading");
  layout.digest = reading.text(json, "digest");
  layout.direction = reading.text(json, "direction") == "right" ? Direction::right : Direction::down;
  layout.width = reading.number(json, "width");
  layout.height = reading.number(json, "height");
  for (const Json& one : reading.list(json, "nodes")) {
    Node& node = layout.nodes.emplace_back();
    node.shape = reading.shape(one);
    node.step = reading.text(one, "step");
    node.part = reading.text(one, "part");
    node.text = reading.text(one, "text");
    node.detail = reading.text(one, "detail");
    node.target = reading.flag(one, "target");
    for (const Json& line : reading.list(one, "lines")) {
      if (line.is_string()) node.lines.emplace_back(line.as_string());
    }
    node.box = reading.box(one);
  }
  for (const Json& one : reading.list(json, "edges")) read_edge(reading, one, layout.edges.emplace_back());
  for (const Json& one : reading.list(json, "containers")) {
    layout.containers.push_back({reading.node(one, "header"), reading.box(one)});
  }
  for (const Json& one : reading.list(json, "links")) {
    const Link link{reading.node(one, "from"), reading.node(one, "to"), reading.kind(one), reading.flag(one, "back"),
                    reading.text(one, "label")};
    if (link.from < 0 || link.to < 0) reading.fits = false;
    layout.links.push_back(link);
  }
  for (const Json& one : reading.list(json, "rows")) {
    layout.rows.push_back(
        {reading.number(one, "depth"), reading.node(one, "node"), reading.kind(one), reading.text(one, "lane")});
  }
  if (!reading.fits) return Error{ErrorCode::invalid, "the layout does not add up"};
  return layout;
}

}  // namespace cairn::render
