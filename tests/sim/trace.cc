#include "trace.h"

#include <cstdio>

namespace cairn::sim {

void Trace::line(std::int64_t now_ms, const std::string& text) {
  std::string whole = std::to_string(now_ms) + " " + text;
  for (const char c : whole) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  ++lines_;
  if (print_) std::printf("%s\n", whole.c_str());
  last_.push_back(std::move(whole));
  if (last_.size() > kept_max) last_.pop_front();
}

}  // namespace cairn::sim
