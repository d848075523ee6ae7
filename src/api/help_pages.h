// The pages of the documentation that the build put into the program, as Markdown (site/build.mjs). A page is named by
// its place in docs/ without its ending: `how-to/back-up`; the front page is `index`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::api {

// In alphabetical order. Empty if the program was built without the console.
std::vector<std::string_view> help_page_names();

// The Markdown of a page. Empty: unknown.
std::optional<std::string> help_page(std::string_view name);

}  // namespace cairn::api
