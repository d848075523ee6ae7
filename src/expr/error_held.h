// An error during an evaluation. && and || may still absorb it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "expr/value.h"

namespace cairn::expr {

struct Value::ErrorHeld {
  std::atomic<std::uint32_t> owners{1};
  std::string_view code;  // static text
  std::string message;
  std::uint32_t instruction = 0;  // the instruction that raised it
};

}  // namespace cairn::expr
