// The files of the console that the build put into the program (cmake/EmbedConsole.cmake).
#pragma once

#include <span>
#include <string_view>

namespace cairn::api {

struct ConsoleFile {
  std::string_view path;  // /index.html, /assets/console-H3P2HF3S.css
  std::string_view type;
  std::string_view etag;   // with its quotes
  bool immutable = false;  // its name contains a hash of its content
  std::string_view gzip;   // the content, compressed
};

// Empty if the program was built without a console.
std::span<const ConsoleFile> console_files();

}  // namespace cairn::api
