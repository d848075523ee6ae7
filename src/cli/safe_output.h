// What a command prints can hold text from anyone: titles, messages, references. SafeOutput stands between the command
// and the terminal and writes control characters as escapes (`\u001b`), so that no text can steer the terminal or hide
// what it says. The escapes are those of JSON, and JSON has such characters only inside strings: its values stay the
// same.
#pragma once

#include <array>
#include <ostream>
#include <streambuf>
#include <string_view>

namespace cairn::cli {

class SafeOutput final : public std::streambuf {
 public:
  // Replaces the buffer of `stream` until it is destroyed.
  explicit SafeOutput(std::ostream& stream) : stream_(stream), to_(stream.rdbuf(this)) {}
  ~SafeOutput() override;
  SafeOutput(const SafeOutput&) = delete;
  SafeOutput& operator=(const SafeOutput&) = delete;

  // Past the filter.
  void write_raw(std::string_view bytes) { to_->sputn(bytes.data(), static_cast<std::streamsize>(bytes.size())); }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int_type overflow(int_type c) override;
  int sync() override { return to_->pubsync(); }

 private:
  bool put(char c);
  bool put_character();

  std::ostream& stream_;
  std::streambuf* to_;
  std::array<char, 4> character_{};  // the bytes so far of one character that is longer than one byte
  std::size_t have_ = 0;
  std::size_t need_ = 0;
};

// Bytes of the command itself, which the filter must not touch: colours, cursor movements, pictures.
void print_raw(std::ostream& out, std::string_view bytes);

}  // namespace cairn::cli
