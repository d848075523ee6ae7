// The events of a world, line by line. Their hash identifies the run; the last lines are shown after a violation.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace cairn::sim {

class Trace {
 public:
  static constexpr std::size_t kept_max = 60;

  void line(std::int64_t now_ms, const std::string& text);
  // Counted but not shown: the calls, step kinds, lanes and faults that a world has reached.
  void reach(const std::string& what) { ++reached_[what]; }

  std::uint64_t hash() const { return hash_; }
  std::uint64_t lines() const { return lines_; }
  const std::deque<std::string>& last() const { return last_; }
  const std::map<std::string, std::uint64_t>& reached() const { return reached_; }
  void print_all(bool on) { print_ = on; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325ull;
  std::uint64_t lines_ = 0;
  std::deque<std::string> last_;
  std::map<std::string, std::uint64_t> reached_;
  bool print_ = false;
};

}  // namespace cairn::sim
