#include "cli/input_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace cairn::cli {
namespace {

Result<std::string> drain(std::istream& in, const std::string& name, std::size_t bytes_max) {
  std::string text;
  char chunk[65536];
  while (in.read(chunk, sizeof chunk) || in.gcount() > 0) {
    text.append(chunk, static_cast<std::size_t>(in.gcount()));
    if (text.size() > bytes_max) {
      return Error{ErrorCode::limit, name + ": larger than the limit of " + std::to_string(bytes_max) + " bytes"};
    }
  }
  if (in.bad()) return Error{ErrorCode::not_found, name + ": cannot be read"};
  return text;
}

}  // namespace

Result<std::string> read_input(const std::string& path, std::istream& in, std::size_t bytes_max) {
  if (path == "-") return drain(in, "standard input", bytes_max);
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return Error{ErrorCode::not_found, path + ": " + std::strerror(errno)};
  if (S_ISDIR(about.st_mode)) return Error{ErrorCode::not_found, path + ": is a folder, not a file"};
  if (S_ISREG(about.st_mode) && static_cast<std::size_t>(about.st_size) > bytes_max) {
    return Error{ErrorCode::limit, path + ": has " + std::to_string(about.st_size) + " bytes, more than the limit of " +
                                       std::to_string(bytes_max)};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::not_found, path + ": " + std::strerror(errno)};
  return drain(file, path, bytes_max);
}

Result<Json> read_json_argument(const std::string& argument, std::istream& in, const JsonLimits& limits) {
  if (argument.empty() || argument.front() != '@') return parse_json(argument, limits);
  const std::string path = argument.substr(1);
  CAIRN_TRY(const std::string text, read_input(path, in, limits.bytes_max));
  auto value = parse_json(text, limits);
  if (!value) return with_context(std::move(value).error(), path);
  return value;
}

}  // namespace cairn::cli
