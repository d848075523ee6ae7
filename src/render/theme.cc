#include "render/theme.h"

namespace cairn::render {
namespace {

constexpr ThemeColors light{
    .background = "#ffffff",
    .title = "#1b2230",
    .edge = "#6b7686",
    .edge_label = "#566173",
    .container_fill = "#f5f9fc",
    .container_stroke = "#b9c8d6",
    .bar = "#2e3a4d",
    .action = {"#e9f0fe", "#3a6fd8", "#1b2b4d", "#3a6fd8"},
    .data = {"#f3f5f8", "#7d8797", "#2a3342", "#6b7686"},
    .task = {"#fff4df", "#b9771c", "#4a300a", "#a6670f"},
    .wait = {"#f3ecff", "#7e51cf", "#35205f", "#7e51cf"},
    .signal = {"#e3f6f0", "#107d64", "#0c3f33", "#107d64"},
    .subworkflow = {"#eef0f4", "#5b6677", "#262f3d", "#5b6677"},
    .event = {"#e6f5fb", "#1c7da8", "#0f3d52", "#1c7da8"},
    .decision = {"#fffae9", "#b9771c", "#7a4706", "#b9771c"},
    .header = {"#e4e9f0", "#7d8797", "#262f3d", "#566173"},
    .complete = {"#e5f5ea", "#2a8549", "#17502b", "#2a8549"},
    .fail = {"#fdebe9", "#c23b2e", "#8c2016", "#c23b2e"},
    .start = {"#dff3ea", "#107d64", "#0c3f33", "#107d64"},
    .not_reached = {"#ffffff", "#c0c8d2", "#5d6878", "#939dab"},
    .done = "#17803d",
    .current = "#1d5fd0",
    .waiting = "#a85c00",
    .failing = "#c0221a",
    .skipped = "#6b7686",
};

constexpr ThemeColors dark{
    .background = "#0e131a",
    .title = "#e8edf4",
    .edge = "#7c8899",
    .edge_label = "#9aa6b6",
    .container_fill = "#131a23",
    .container_stroke = "#3b4858",
    .bar = "#a8b4c4",
    .action = {"#13233f", "#5b8cee", "#dbe7ff", "#7fa8f8"},
    .data = {"#1a212b", "#6d7989", "#d9e0ea", "#98a4b4"},
    .task = {"#33230b", "#cc8f35", "#ffe6bd", "#e0a64e"},
    .wait = {"#261b40", "#9c7be8", "#e7dcff", "#b498f2"},
    .signal = {"#0d2c26", "#33ad92", "#c9f3e8", "#4cc7ab"},
    .subworkflow = {"#1d2430", "#8a96a8", "#e1e7f0", "#a6b2c3"},
    .event = {"#0e2a38", "#3d9fca", "#cfeefb", "#5cb8e0"},
    .decision = {"#2c230c", "#cc8f35", "#ffd793", "#e0a64e"},
    .header = {"#252e3b", "#7c8899", "#e1e7f0", "#a6b2c3"},
    .complete = {"#10301b", "#3fae66", "#c6f2d4", "#58c47e"},
    .fail = {"#3a1613", "#e5675b", "#ffd0cb", "#f08a80"},
    .start = {"#0d2c26", "#33ad92", "#c9f3e8", "#4cc7ab"},
    .not_reached = {"#0e131a", "#3f4b5a", "#95a1b1", "#657181"},
    .done = "#45c46f",
    .current = "#6ea4ff",
    .waiting = "#f0b04a",
    .failing = "#ff8378",
    .skipped = "#98a4b4",
};

// The properties of a page, with the light colours where a page does not set them.
constexpr ThemeColors tokens{
    .background = "var(--d-background, #ffffff)",
    .title = "var(--d-title, #1b2230)",
    .edge = "var(--d-edge, #6b7686)",
    .edge_label = "var(--d-edge-label, #566173)",
    .container_fill = "var(--d-container, #f5f9fc)",
    .container_stroke = "var(--d-container-line, #b9c8d6)",
    .bar = "var(--d-bar, #2e3a4d)",
    .action = {"var(--d-action, #e9f0fe)", "var(--d-action-line, #3a6fd8)", "var(--d-action-text, #1b2b4d)",
               "var(--d-action-line, #3a6fd8)"},
    .data = {"var(--d-data, #f3f5f8)", "var(--d-data-line, #7d8797)", "var(--d-data-text, #2a3342)",
             "var(--d-edge, #6b7686)"},
    .task = {"var(--d-task, #fff4df)", "var(--d-task-line, #b9771c)", "var(--d-task-text, #4a300a)",
             "var(--d-task-icon, #a6670f)"},
    .wait = {"var(--d-wait, #f3ecff)", "var(--d-wait-line, #7e51cf)", "var(--d-wait-text, #35205f)",
             "var(--d-wait-line, #7e51cf)"},
    .signal = {"var(--d-signal, #e3f6f0)", "var(--d-start-line, #107d64)", "var(--d-signal-text, #0c3f33)",
               "var(--d-start-line, #107d64)"},
    .subworkflow = {"var(--d-subworkflow, #eef0f4)", "var(--d-subworkflow-line, #5b6677)",
                    "var(--d-subworkflow-text, #262f3d)", "var(--d-subworkflow-line, #5b6677)"},
    .event = {"var(--d-event, #e6f5fb)", "var(--d-event-line, #1c7da8)", "var(--d-event-text, #0f3d52)",
              "var(--d-event-line, #1c7da8)"},
    .decision = {"var(--d-decision, #fffae9)", "var(--d-task-line, #b9771c)", "var(--d-decision-text, #7a4706)",
                 "var(--d-task-line, #b9771c)"},
    .header = {"var(--d-header, #e4e9f0)", "var(--d-data-line, #7d8797)", "var(--d-subworkflow-text, #262f3d)",
               "var(--d-edge-label, #566173)"},
    .complete = {"var(--d-complete, #e5f5ea)", "var(--d-complete-line, #2a8549)", "var(--d-complete-text, #17502b)",
                 "var(--d-complete-line, #2a8549)"},
    .fail = {"var(--d-fail, #fdebe9)", "var(--d-fail-line, #c23b2e)", "var(--d-fail-text, #8c2016)",
             "var(--d-fail-line, #c23b2e)"},
    .start = {"var(--d-start, #dff3ea)", "var(--d-start-line, #107d64)", "var(--d-signal-text, #0c3f33)",
              "var(--d-start-line, #107d64)"},
    .not_reached = {"var(--d-background, #ffffff)", "var(--d-idle-line, #c0c8d2)", "var(--d-idle-text, #5d6878)",
                    "var(--d-idle-icon, #939dab)"},
    .done = "var(--d-done, #17803d)",
    .current = "var(--d-current, #1d5fd0)",
    .waiting = "var(--d-waiting, #a85c00)",
    .failing = "var(--d-failing, #c0221a)",
    .skipped = "var(--d-edge, #6b7686)",
};

}  // namespace

const ThemeColors& colors_of(Theme theme) {
  switch (theme) {
    case Theme::light: break;
    case Theme::dark: return dark;
    case Theme::tokens: return tokens;
  }
  return light;
}

const ShapeColors& colors_of(const ThemeColors& theme, Shape shape) {
  switch (shape) {
    case Shape::start:
    case Shape::end: return theme.start;
    case Shape::action: return theme.action;
    case Shape::data:
    case Shape::undo: return theme.data;
    case Shape::task: return theme.task;
    case Shape::wait: return theme.wait;
    case Shape::signal: return theme.signal;
    case Shape::subworkflow:
    case Shape::collapsed: return theme.subworkflow;
    case Shape::event: return theme.event;
    case Shape::decision:
    case Shape::race: return theme.decision;
    case Shape::fork:
    case Shape::join:
    case Shape::loop:
    case Shape::attempt:
    case Shape::cleanup: return theme.header;
    case Shape::complete: return theme.complete;
    case Shape::fail: return theme.fail;
    case Shape::jump: return theme.decision;
  }
  return theme.action;
}

std::string_view color_of(const ThemeColors& theme, Progress progress) {
  switch (progress) {
    case Progress::not_reached: return theme.not_reached.stroke;
    case Progress::done: return theme.done;
    case Progress::current: return theme.current;
    case Progress::waiting: return theme.waiting;
    case Progress::failing:
    case Progress::failed: return theme.failing;
    case Progress::skipped: return theme.skipped;
  }
  return theme.edge;
}

}  // namespace cairn::render
