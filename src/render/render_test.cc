#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

#include "definition/definition.h"
#include "render/exports.h"
#include "render/layout_faults.h"
#include "render/png.h"
#include "render/svg.h"
#include "render/text_tree.h"

namespace cairn::render {
namespace {

Layout layout_of_text(const std::string& steps, const std::string& title = "") {
  std::string text = "cairn: 1\nname: demo\nversion: 1.0.0\n";
  if (!title.empty()) text += "title: " + write_json(Json(title)) + "\n";
  const Definition definition = load_definition(text + "steps:\n" + steps, "demo.yaml");
  for (const Diagnostic& diagnostic : definition.diagnostics) {
    if (diagnostic.severity == Diagnostic::Severity::error) ADD_FAILURE() << format_diagnostic("demo.yaml", diagnostic);
  }
  return definition.valid() ? layout_of(outline_of(*definition.program)) : Layout{};
}

constexpr const char* approval =
    "  - id: prepare\n"
    "    title: Prepare application\n"
    "    call: { worker: { type: prepare }, on_failure: [ { fail: { code: no_draft } } ] }\n"
    "  - id: approve\n"
    "    task: { name: Approve, deadline: { after: 3d, steps: [ { set: { late: true } } ] }, result: answer }\n"
    "  - id: answer\n"
    "    switch:\n"
    "      - when: state.answer.decision == \"approved\"\n"
    "        steps: [ { id: issue, call: { worker: { type: issue } } } ]\n"
    "      - when: state.answer.decision == \"rejected\"\n"
    "        steps: [ { complete: {} } ]\n"
    "  - id: lines\n"
    "    repeat: { times: 3, steps: [ { id: send, call: { worker: { type: send } } } ] }\n";

// Checks what an XML parser would insist on: opening and closing tags match, and all tags are known.
void expect_harmless_xml(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = svg.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = svg.substr(at + 1, end - at - 1);
    const bool closing = tag.starts_with("/");
    const std::string name = tag.substr(closing, tag.find_first_of(" />", closing) - closing);
    static const std::vector<std::string> known{"svg", "title", "desc", "g", "rect", "circle", "path", "text"};
    EXPECT_NE(std::find(known.begin(), known.end(), name), known.end()) << tag;
    if (closing) {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), name);
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty());
  for (const char c : svg) ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(Outline, ASwitchOnOneValueIsAQuestionWithAnswers) {
  const std::string tree = text_tree(layout_of_text(approval));
  EXPECT_EQ(tree,
            "▸ Prepare application\n"
            "  ⚡ on failure\n"
            "    ✗ no_draft\n"
            "☺ approve\n"
            "  ◷ after 3d\n"
            "    = set late\n"
            "◆ answer.decision?\n"
            "  → approved\n"
            "    ▸ issue\n"
            "  → rejected\n"
            "    ■ complete\n"
            "↻ 3 times\n"
            "  ▸ send\n");
}

TEST(Outline, AConditionOnAnEndIsADecision) {
  const Layout layout = layout_of_text("  - { when: 1 > 2, complete: {} }\n  - { when: 2 > 1, set: { a: 1 } }\n");
  EXPECT_EQ(text_tree(layout), "◆ 1 > 2\n  → yes\n    ■ complete\n= set a (when 2 > 1)\n");
  EXPECT_TRUE(layout_faults(layout).empty());
}

TEST(Svg, NamesItsStepsAndDescribesItself) {
  const std::string svg = svg_text(layout_of_text(approval, "Policy & approval"));
  expect_harmless_xml(svg);
  EXPECT_NE(svg.find("role=\"img\""), std::string::npos);
  EXPECT_NE(svg.find("<title>Policy &amp; approval</title>"), std::string::npos);
  EXPECT_NE(svg.find("<desc>▸ Prepare application\n"), std::string::npos);
  for (const char* step : {"prepare", "approve", "issue", "lines", "send"}) {
    EXPECT_NE(svg.find("data-step=\"" + std::string(step) + "\""), std::string::npos) << step;
  }
  EXPECT_NE(svg, svg_text(layout_of_text(approval, "Policy & approval"), Theme::dark));
}

TEST(Svg, HostileTitlesAreHarmlessText) {
  const std::string long_title(10'000, 'x');
  for (const std::string& title :
       {std::string("<script>alert(1)</script>"), std::string("\"><svg onload=\"x\">&amp;]]>"), long_title,
        std::string("\u202Egnp.exe\u202C مرحبا بالعالم"), std::string("🎉🎉🎉 👩‍👩‍👧 party"),
        std::string("a\x01\x1b[2Jz"), std::string("審査を通過した申請書の内容を確認してから承認する")}) {
    const Layout layout =
        layout_of_text("  - { id: a, title: " + write_json(Json(title)) + ", set: { a: 1 } }\n", title);
    EXPECT_TRUE(layout_faults(layout).empty());
    EXPECT_LT(layout.width, 700) << title.substr(0, 30);
    for (const Theme theme : {Theme::light, Theme::dark}) {
      const std::string svg = svg_text(layout, theme);
      expect_harmless_xml(svg);
      EXPECT_EQ(svg.find("<script"), std::string::npos);
      EXPECT_LT(svg.size(), 30'000u);
    }
    EXPECT_EQ(text_tree(layout).find('\x1b'), std::string::npos);
    EXPECT_EQ(mermaid_text(layout).find('<'), std::string::npos);
    EXPECT_TRUE(png_bytes(layout));
  }
}

TEST(Overlay, SignsAndBadgesTellTheStatus) {
  Overlay overlay;
  overlay.instance = "7f3a";
  overlay.status = "failing";
  overlay.steps["prepare"] = {.progress = Progress::done, .took = Duration::of_ms(12)};
  overlay.steps["approve"] = {.progress = Progress::done, .took = Duration::of_seconds(100'800)};
  overlay.steps["answer"].progress = Progress::done;
  overlay.steps["issue"] = {
      .progress = Progress::failing, .left = Duration::of_seconds(130), .attempt = 4, .attempts_max = 5};
  overlay.steps["lines"] = {.progress = Progress::current, .iteration = 2, .iterations = 3};
  overlay.steps["send"] = {.progress = Progress::waiting, .waiting_for = "send", .left = Duration::of_seconds(21'600)};
  const Layout layout = layout_of_text(approval);
  EXPECT_EQ(text_tree(layout, &overlay),
            "✓ ▸ Prepare application  12ms\n"
            "    ⚡ on failure\n"
            "·     ✗ no_draft\n"
            "✓ ☺ approve              1d 4h\n"
            "    ◷ after 3d\n"
            "·     = set late\n"
            "✓ ◆ answer.decision?\n"
            "    → approved\n"
            "!     ▸ issue            attempt 4/5, next in 2m 10s\n"
            "    → rejected\n"
            "·     ■ complete\n"
            "● ↻ 3 times              2 of 3\n"
            "◷   ▸ send               waiting for send, 6h left\n");
  const std::string svg = svg_text(layout, Theme::light, &overlay);
  expect_harmless_xml(svg);
  for (const char* text : {">12ms<", ">1d 4h<", ">attempt 4/5<", ">waiting 6h<", ">2 of 3<", ">7f3a — failing<",
                           "data-state=\"failing\"", "data-state=\"not reached\""}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
}

TEST(Overlay, PartsOfAStepHaveAStatusOfTheirOwn) {
  Overlay overlay;
  overlay.steps["race"] = {.progress = Progress::waiting, .left = Duration::of_seconds(60)};
  EXPECT_EQ(overlay.of("race", "option0").progress, Progress::waiting);
  EXPECT_EQ(badge_text(overlay.of("race", "option0")), "waiting") << "what is left stands on the step itself";
  overlay.steps["race"].progress = Progress::done;
  overlay.steps["race.option1"].progress = Progress::done;
  EXPECT_EQ(overlay.of("race", "option0").progress, Progress::not_reached);
  EXPECT_EQ(overlay.of("race", "option1").progress, Progress::done);
  EXPECT_EQ(overlay.of("race", "finally").progress, Progress::done);
  overlay.steps["race"].progress = Progress::skipped;
  EXPECT_EQ(overlay.of("race", "when").progress, Progress::done);
  EXPECT_EQ(overlay.of("other", "when").progress, Progress::not_reached);
}

TEST(Overlay, OnlyTheWayTakenIsDrawnAsTaken) {
  const Layout layout =
      layout_of_text("  - { id: a, if: 1 > 2, then: [ { id: b, set: { x: 1 } } ] }\n  - { id: c, set: { y: 1 } }\n");
  const auto taken_lines = [&](const Overlay& overlay) {
    const Picture picture = draw(layout, Theme::light, &overlay);
    int lines = 0;
    for (const Mark& mark : picture.marks) lines += mark.kind == Mark::Kind::path && mark.ink.width == 18;
    return lines;
  };
  Overlay overlay;
  EXPECT_EQ(taken_lines(overlay), 0);
  overlay.steps["a"].progress = Progress::done;
  overlay.steps["c"].progress = Progress::current;
  EXPECT_EQ(taken_lines(overlay), 3) << "start to a, around b, on to c";
  overlay.steps["b"].progress = Progress::done;
  EXPECT_EQ(taken_lines(overlay), 4) << "start to a, to b, on to the merge, on to c";
}

TEST(Exports, MermaidAndDotHoldTheSameLinks) {
  const Layout layout = layout_of_text(approval);
  const std::string mermaid = mermaid_text(layout);
  const std::string dot = dot_text(layout);
  EXPECT_TRUE(mermaid.starts_with("flowchart TD\n"));
  EXPECT_TRUE(dot.starts_with("digraph \"demo\" {\n"));
  EXPECT_NE(mermaid.find("|\"on failure\"|"), std::string::npos);
  for (const Link& link : layout.links) {
    const std::string from = "n" + std::to_string(link.from);
    EXPECT_NE(dot.find(from + " -> n" + std::to_string(link.to)), std::string::npos);
  }
  // Every step except the start has an incoming link, and every step except ends has an outgoing one.
  std::vector<bool> reached(layout.nodes.size(), false);
  for (const Link& link : layout.links) reached[static_cast<std::size_t>(link.to)] = true;
  for (std::size_t i = 1; i < reached.size(); ++i) EXPECT_TRUE(reached[i]) << layout.nodes[i].text;
}

TEST(Png, HasTheSizeAskedForAndTheColoursOfTheTheme) {
  const Layout layout = layout_of_text(approval);
  const Result<std::string> png = png_bytes(layout, Theme::dark, 2);
  ASSERT_TRUE(png);
  ASSERT_TRUE(png->starts_with("\x89PNG\r\n\x1a\n"));
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<unsigned char>((*png)[at + i]);
    return value;
  };
  const std::uint32_t width = number(16);
  const std::uint32_t height = number(20);
  EXPECT_EQ(width, static_cast<std::uint32_t>(layout.width) * 2);
  EXPECT_EQ(height, static_cast<std::uint32_t>(layout.height) * 2);
  EXPECT_EQ(*png, *png_bytes(layout, Theme::dark, 2));

  // The second chunk holds the rows: a filter byte and three bytes for each pixel.
  const std::size_t chunk = 33;
  const std::uint32_t packed_size = number(chunk);
  ASSERT_EQ(png->substr(chunk + 4, 4), "IDAT");
  const auto* packed = reinterpret_cast<const Bytef*>(png->data() + chunk + 8);
  EXPECT_EQ(number(chunk + 8 + packed_size), crc32(0, packed - 4, packed_size + 4));
  std::string rows((width * 3 + 1) * height + 1, '\0');
  uLongf rows_size = rows.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &rows_size, packed, packed_size), Z_OK);
  EXPECT_EQ(rows_size, rows.size() - 1);
  EXPECT_EQ(rows.substr(0, 4), "\x02\x0e\x13\x1a");  // difference to the row above, then the dark background
}

TEST(Png, APictureThatIsTooLargeIsRefused) {
  Layout layout = layout_of_text(approval);
  layout.width = layout.height = 20'000;
  const Result<std::string> png = png_bytes(layout);
  ASSERT_FALSE(png);
  EXPECT_EQ(png.error().code, ErrorCode::limit);
}

}  // namespace
}  // namespace cairn::render
