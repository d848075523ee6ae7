// Any text from data: sealed and opened again it is the same, and it never requests a secret. Only a secret that the
// expression names is inserted.
#include "expr/secret_mark.h"
#include "input.h"
#include "transport/secrets.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  static const Secrets secrets({{"key", {"VALUE", {}}}, {"secret", {"OTHER", {}}}, {"", {"EMPTY", {}}}});
  // Short stand-ins, so that the fuzzer finds marks quickly.
  std::string text;
  for (const char c : input) {
    switch (c) {
      case '\1': text += expr::mark_begin; break;
      case '\2': text += expr::mark_end; break;
      case '\3': text += expr::mark_literal; break;
      case '\4': text += expr::mark_kind; break;
      case '\5': text += expr::secret_marker("key"); break;
      default: text += c;
    }
  }
  Unsealing unnamed(secrets, true);
  const auto opened = unnamed.value(expr::seal(Json(text), {}));
  CAIRN_ASSERT(opened.has_value() && opened->as_string() == text);

  const std::string named[] = {"key"};
  Unsealing unsealing(secrets, true);
  const auto some = unsealing.value(expr::seal(Json(text), named));
  CAIRN_ASSERT(some.has_value());
  CAIRN_ASSERT(some->as_string().find("OTHER") == std::string_view::npos || text.find("OTHER") != std::string::npos);
  if (some->as_string() != text) CAIRN_ASSERT(text.find(expr::secret_marker("key")) != std::string::npos);
}
