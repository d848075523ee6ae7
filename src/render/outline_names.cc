// The names of shapes and lanes in the classes of pictures and in the JSON of a layout.
#include "render/outline.h"

namespace cairn::render {

const char* to_string(Shape shape) {
  switch (shape) {
    case Shape::start: return "start";
    case Shape::end: return "end";
    case Shape::action: return "action";
    case Shape::data: return "data";
    case Shape::task: return "task";
    case Shape::wait: return "wait";
    case Shape::signal: return "signal";
    case Shape::subworkflow: return "subworkflow";
    case Shape::event: return "event";
    case Shape::undo: return "undo";
    case Shape::decision: return "decision";
    case Shape::race: return "race";
    case Shape::fork: return "fork";
    case Shape::join: return "join";
    case Shape::loop: return "loop";
    case Shape::attempt: return "try";
    case Shape::cleanup: return "finally";
    case Shape::complete: return "complete";
    case Shape::fail: return "fail";
    case Shape::jump: return "jump";
    case Shape::collapsed: return "collapsed";
  }
  return "";
}

const char* to_string(LaneKind kind) {
  switch (kind) {
    case LaneKind::flow: return "flow";
    case LaneKind::failure: return "failure";
    case LaneKind::timeout: return "timeout";
    case LaneKind::beside: return "beside";
    case LaneKind::compensation: return "compensation";
  }
  return "";
}

}  // namespace cairn::render
