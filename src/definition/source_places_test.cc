#include <gtest/gtest.h>
#include <yaml.h>

#include <random>

#include "definition/source.h"

namespace cairn {
namespace {

// The places of all bytes of the text at `key`, one after the other.
std::string places(std::string_view source, std::string_view key = "a") {
  std::vector<Diagnostic> findings;
  const SourceDocument document = SourceDocument::read(source, {}, findings);
  if (!findings.empty()) return format_diagnostic("f", findings.front());
  const SourceNode& node = *document.root().find(key);
  std::string text;
  for (std::size_t i = 0; i <= node.scalar.as_string().size(); ++i) {
    text += (i > 0 ? " " : "") + to_string(document.place_in(node, i));
  }
  return text;
}

TEST(PlaceOf, Nodes) {
  std::vector<Diagnostic> findings;
  const SourceDocument document = SourceDocument::read(
      "name: x\nsteps:\n  - id: a\n    set: { b: 1,\n      c: = 2 }\n  - wait: 1h\n", {}, findings);
  const SourceNode& steps = *document.root().find("steps");
  EXPECT_EQ(to_string(steps.at), "3:3");
  EXPECT_EQ(to_string(steps.items[0].at), "3:5");
  EXPECT_EQ(to_string(steps.items[0].find("set")->at), "4:10");
  EXPECT_EQ(to_string(steps.items[0].find("set")->find_member("c")->key_at), "5:7");
  EXPECT_EQ(to_string(steps.items[0].find("set")->find("c")->at), "5:10");
  EXPECT_EQ(to_string(steps.items[1].find_member("wait")->key_at), "6:5");
}

TEST(PlaceOf, ColumnsCountCodePoints) {
  std::vector<Diagnostic> findings;
  const SourceDocument document = SourceDocument::read("\xC3\xBC\xE2\x82\xAC: {\xF0\x9F\x98\x80: x}\n", {}, findings);
  EXPECT_EQ(to_string(document.root().members[0].value.at), "1:5");
  EXPECT_EQ(to_string(document.root().members[0].value.members[0].value.at), "1:9");
}

TEST(PlaceOf, LinesEndInAnyOfTheThreeWays) {
  std::vector<Diagnostic> findings;
  const SourceDocument document = SourceDocument::read("a: 1\r\nb: 2\rc: 3\nd: 4", {}, findings);
  EXPECT_EQ(to_string(document.root().members[1].key_at), "2:1");
  EXPECT_EQ(to_string(document.root().members[2].value.at), "3:4");
  EXPECT_EQ(to_string(document.root().members[3].value.at), "4:4");
}

TEST(PlaceOf, FarIntoAFileWithWideCharacters) {
  std::string text = "# ";
  for (int i = 0; i < 1000; ++i) text += "\xE2\x82\xAC";
  text += "\na: [";
  for (int i = 0; i < 1000; ++i) text += "\xC3\xBC,";
  text += "end]\n";
  std::vector<Diagnostic> findings;
  const SourceDocument document = SourceDocument::read(text, {}, findings);
  EXPECT_EQ(to_string(document.root().find("a")->items.back().at), "2:2005");
}

TEST(PlaceIn, PlainText) {
  EXPECT_EQ(places("a: = x"), "1:4 1:5 1:6 1:7");
  EXPECT_EQ(places("a: \xC3\xBCx"), "1:4 1:4 1:5 1:6");
  EXPECT_EQ(places("a: &n x+y"), "1:7 1:8 1:9 1:10");
  EXPECT_EQ(places("a: !!str   xy"), "1:12 1:13 1:14");
  EXPECT_EQ(places("a: &n !!str # note\n   xy"), "2:4 2:5 2:6");
}

TEST(PlaceIn, PlainTextOverSeveralLines) {
  EXPECT_EQ(places("a: x  \n   yz\n"), "1:4 1:7 2:4 2:5 2:6");
  EXPECT_EQ(places("a: x\n\n\n  y\n"), "1:4 2:1 3:1 4:3 4:4");
}

TEST(PlaceIn, SingleQuotes) {
  EXPECT_EQ(places("a: 'it''s'"), "1:5 1:6 1:8 1:9 1:10");
  EXPECT_EQ(places("a: 'x \n  y'"), "1:5 1:7 2:3 2:4");
}

TEST(PlaceIn, DoubleQuotes) {
  EXPECT_EQ(places("a: \"x\\ty\\u20ACz\""), "1:5 1:6 1:8 1:9 1:9 1:9 1:15 1:16");
  EXPECT_EQ(places("a: \"x\\\n   y\""), "1:5 2:4 2:5");
  EXPECT_EQ(places("a: \"x\n\n   y\""), "1:5 2:1 3:4 3:5");
  EXPECT_EQ(places("{\"a\": \"x\\ud83d\\ude00y\\/\"}"), "1:8 1:9 1:9 1:9 1:9 1:21 1:22 1:23");
}

TEST(PlaceIn, LiteralBlocks) {
  EXPECT_EQ(places("a: |\n  = x +\n    y\n"), "2:3 2:4 2:5 2:6 2:7 2:8 3:3 3:4 3:5 3:6 4:1");
  EXPECT_EQ(places("a: |-\n\n\n   xy\n   z\n\n"), "2:1 3:1 4:4 4:5 4:6 5:4 5:5");
  EXPECT_EQ(places("a: |+\n  x\n\n\n"), "2:3 2:4 3:1 4:1 5:1");
  EXPECT_EQ(places("a: |2-  # note - with signs\n     x\n"), "2:3 2:4 2:5 2:6 2:7");
}

TEST(PlaceIn, FoldedBlocks) {
  EXPECT_EQ(places("a: >-\n  x\n  y\n"), "2:3 2:4 3:3 3:4");
  EXPECT_EQ(places("a: >\n  x\n\n  y\n"), "2:3 3:1 4:3 4:4 5:1");
  EXPECT_EQ(places("a: >-\n  x\n    y\n  z\n"), "2:3 2:4 3:3 3:4 3:5 3:6 4:3 4:4");
  EXPECT_EQ(places("a: >-\r\n  x\r\n  y\r\n"), "2:3 2:4 3:3 3:4");
}

// libyaml's emitter writes random text in every style. Each visible character must be found where it was written.
class Emitted {
 public:
  static std::string scalar(const std::string& value, yaml_scalar_style_t style, int width, int indent) {
    std::string out;
    yaml_emitter_t emitter;
    yaml_emitter_initialize(&emitter);
    yaml_emitter_set_output(&emitter, append, &out);
    yaml_emitter_set_width(&emitter, width);
    yaml_emitter_set_indent(&emitter, indent);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_event_t event;
    const auto emit = [&] { ASSERT_TRUE(yaml_emitter_emit(&emitter, &event)); };
    const auto text = [&](const std::string& content, yaml_scalar_style_t how) {
      yaml_scalar_event_initialize(&event, nullptr, nullptr, reinterpret_cast<const yaml_char_t*>(content.data()),
                                   static_cast<int>(content.size()), 1, 1, how);
      emit();
    };
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), emit();
    yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1), emit();
    yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE), emit();
    text("b", YAML_PLAIN_SCALAR_STYLE);
    yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE), emit();
    text("a", YAML_PLAIN_SCALAR_STYLE);
    text(value, style);
    yaml_mapping_end_event_initialize(&event), emit();
    yaml_mapping_end_event_initialize(&event), emit();
    yaml_document_end_event_initialize(&event, 1), emit();
    yaml_stream_end_event_initialize(&event), emit();
    yaml_emitter_delete(&emitter);
    return out;
  }

 private:
  static int append(void* out, unsigned char* bytes, std::size_t size) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
    return 1;
  }
};

TEST(PlaceIn, FindsEveryCharacterThatWasWritten) {
  std::mt19937 random(20240131);
  const std::vector<std::string> alphabet = {"a",  "b", "Z",  "9", " ", " ", "\n", "\xC3\xBC", "\xF0\x9F\x98\x80",
                                             "\"", "'", "\\", "-", ":", "#", "=",  "{",        "\t"};
  int checked = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string value = "x";
    const int length = static_cast<int>(random() % 40);
    for (int i = 0; i < length; ++i) value += alphabet[random() % alphabet.size()];
    const auto style = static_cast<yaml_scalar_style_t>(YAML_PLAIN_SCALAR_STYLE + random() % 5);
    const std::string source =
        Emitted::scalar(value, style, static_cast<int>(random() % 30 + 10), static_cast<int>(random() % 6 + 2));
    std::vector<Diagnostic> findings;
    const SourceDocument document = SourceDocument::read(source, {}, findings);
    ASSERT_TRUE(findings.empty()) << source;
    const SourceNode& node = *document.root().find("b")->find("a");
    ASSERT_EQ(node.scalar, Json(value)) << source;
    std::vector<std::string> lines{""};
    for (const char c : source) {
      if (c == '\n') {
        lines.emplace_back();
      } else {
        lines.back() += c;
      }
    }
    int line = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const SourcePlace place = document.place_in(node, i);
      ASSERT_GE(place.line, line) << source;
      line = place.line;
      const bool visible = (value[i] >= '0' && value[i] <= '9') || (value[i] | 0x20) == 'a' || value[i] == 'b' ||
                           value[i] == 'Z' || value[i] == '=';
      if (!visible) continue;
      // Columns count code points, so skip as many lead bytes.
      const std::string& text = lines[static_cast<std::size_t>(place.line) - 1];
      std::size_t offset = 0;
      for (int column = 1; column < place.column; ++column) {
        ++offset;
        while (offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xC0) == 0x80) ++offset;
      }
      ASSERT_EQ(text[offset], value[i]) << source << " byte " << i << " at " << to_string(place);
      ++checked;
    }
  }
  EXPECT_GT(checked, 10'000);
}

}  // namespace
}  // namespace cairn
