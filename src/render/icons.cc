#include "render/icons.h"

namespace cairn::render {
namespace {

// Reads "M50 30L10 80Q1 2 3 4Z". A curve has its control point first.
Path read_path(std::string_view text, int x, int y) {
  Path path;
  std::size_t at = 0;
  const auto number = [&] {
    while (at < text.size() && text[at] == ' ') ++at;
    int value = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') value = value * 10 + (text[at++] - '0');
    return value;
  };
  while (at < text.size()) {
    PathStep step;
    step.op = static_cast<PathStep::Op>(text[at++]);
    if (step.op == PathStep::Op::curve) {
      step.control_x = x + number();
      step.control_y = y + number();
    }
    if (step.op != PathStep::Op::close) {
      step.x = x + number();
      step.y = y + number();
    }
    path.push_back(step);
  }
  return path;
}

std::string_view shape_drawing(Shape shape) {
  switch (shape) {
    case Shape::action: return "M55 35L15 80L55 125M105 35L145 80L105 125";
    case Shape::data: return "M25 55L135 55M25 80L135 80M25 105L95 105";
    case Shape::task:
      return "M80 20Q110 20 110 50Q110 80 80 80Q50 80 50 50Q50 20 80 20ZM25 140Q25 98 80 98Q135 98 135 140";
    case Shape::wait: return "M80 18Q142 18 142 80Q142 142 80 142Q18 142 18 80Q18 18 80 18ZM80 42L80 82L106 98";
    case Shape::signal: return "M18 38L142 38L142 124L18 124ZM18 42L80 90L142 42";
    case Shape::subworkflow:
    case Shape::collapsed: return "M22 22L138 22L138 138L22 138ZM80 52L80 108M52 80L108 80";
    case Shape::event: return "M35 125L125 35M65 35L125 35L125 95";
    case Shape::undo: return "M50 25L20 60L55 90M20 60L100 60Q140 60 140 98Q140 132 100 132L60 132";
    case Shape::loop: return "M130 60Q118 25 80 25Q25 25 25 80Q25 135 80 135Q122 135 134 98M134 22L134 62L94 62";
    case Shape::attempt: return "M80 18L136 38L136 82Q136 122 80 144Q24 122 24 82L24 38Z";
    case Shape::cleanup: return "M30 18L30 146M30 26L130 26L108 58L130 90L30 90";
    case Shape::complete: return "M28 84L64 120L134 44";
    case Shape::fail: return "M36 36L124 124M124 36L36 124";
    case Shape::jump: return "M50 35L20 70L55 100M20 70L135 70L135 130";
    case Shape::start:
    case Shape::end:
    case Shape::decision:
    case Shape::race:
    case Shape::fork:
    case Shape::join: return "";
  }
  return "";
}

std::string_view progress_drawing(Progress progress) {
  switch (progress) {
    case Progress::done: return "M28 62L52 86L94 38";
    case Progress::current: return "M46 34L90 60L46 86Z";
    case Progress::waiting: return "M34 30L86 30L34 90L86 90Z";
    case Progress::failing: return "M60 24L60 66M60 84L60 94";
    case Progress::failed: return "M36 36L84 84M84 36L36 84";
    case Progress::skipped: return "M32 60L88 60";
    case Progress::not_reached: return "";
  }
  return "";
}

}  // namespace

Path shape_icon(Shape shape, int x, int y) { return read_path(shape_drawing(shape), x, y); }
Path progress_icon(Progress progress, int x, int y) { return read_path(progress_drawing(progress), x, y); }

}  // namespace cairn::render
