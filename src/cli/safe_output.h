// Commands print text from untrusted sources: titles, messages, references. SafeOutput filters the output to the
// terminal and writes control characters as escapes (`\u001b`), so that no text can control the terminal or hide its
// content. The escapes are those of JSON. JSON contains such characters only inside strings, so its values stay the
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

  // Bypasses the filter.
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
  std::array<char, 4> character_{};  // the bytes so far of a multi-byte character
  std::size_t have_ = 0;
  std::size_t need_ = 0;
};

// Prints bytes of the command itself unfiltered: colours, cursor movements, pictures.
void print_raw(std::ostream& out, std::string_view bytes);

}  // namespace cairn::cli
