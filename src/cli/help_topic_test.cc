#include "cli/help_topic.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace cairn::cli {
namespace {

const std::map<std::string, std::string, std::less<>> pages = {
    {"index", "# Front\n\n- [Time](concepts/time.md)\n"},
    {"concepts/time", "# Time\n\nA clock. See [backup](../how-to/back-up.md#sqlite) and [x](https://x.example).\n"},
    {"how-to/back-up",
     "# Back up\n\n![p](p.svg)\n<!-- c -->\n```sh\ncp `a` [b](c.md)\n```\n**Now** use the `[clock](x.md)`.\n"},
};

HelpLibrary library() {
  HelpLibrary made;
  for (const auto& [name, text] : pages) made.names.push_back(name);
  made.read = [](std::string_view name) -> std::optional<std::string> {
    const auto found = pages.find(name);
    if (found == pages.end()) return std::nullopt;
    return found->second;
  };
  return made;
}

std::string asked(std::vector<std::string> words) {
  std::ostringstream out;
  return print_help_topic(library(), words, out) ? out.str() : "nothing";
}

TEST(HelpTopic, APageIsFoundByItsNameAndByTheLastPartOfIt) {
  EXPECT_EQ(asked({"concepts/time"}).substr(0, 6), "# Time");
  EXPECT_EQ(asked({"TIME"}).substr(0, 6), "# Time");
  EXPECT_EQ(asked({"topics"}), "# Front\n\n- Time (concepts/time)\n");
}

TEST(HelpTopic, WordsFindThePagesThatContainThemAll) {
  EXPECT_EQ(asked({"clock", "see"}), "  concepts/time  Time\n\n`cairn help TOPIC` shows one of them.\n");
  EXPECT_EQ(asked({"clock"}),
            "  concepts/time   Time\n  how-to/back-up  Back up\n\n`cairn help TOPIC` shows one of them.\n");
  EXPECT_EQ(asked({"back"}).substr(0, 9), "# Back up") << "a title is better than a text";
  EXPECT_EQ(asked({"clock", "unheard"}), "nothing");
  EXPECT_EQ(asked({"lock"}), "nothing") << "a word begins with it";
  EXPECT_EQ(asked({}), "nothing");
}

TEST(HelpTopic, MarksAreRemovedButNotInCode) {
  EXPECT_EQ(help_text(pages.find("how-to/back-up")->second, "how-to/back-up"),
            "# Back up\n\n    cp `a` [b](c.md)\nNow use the `[clock](x.md)`.\n");
  EXPECT_EQ(help_text(pages.find("concepts/time")->second, "concepts/time"),
            "# Time\n\nA clock. See backup (how-to/back-up) and x (https://x.example).\n");
}

TEST(HelpTopic, ALinkOutOfTheDocumentationHasNoTopic) {
  EXPECT_EQ(help_text("[a](../../README.md) [b](../x.yaml) [c](#here)", "how-to/back-up"), "a b c\n");
}

}  // namespace
}  // namespace cairn::cli
