// Example definitions inside the binary, for new users.
#pragma once

#include <span>
#include <string_view>

namespace cairn::cli {

struct EmbeddedExample {
  std::string_view name;
  std::string_view text;
};
std::span<const EmbeddedExample> embedded_examples();

}  // namespace cairn::cli
