// The definitions of the corpus as the decompiler wrote them in C++; generated beside this.
#pragma once

#include <span>
#include <string_view>

#include "cairn/definition.h"

namespace cairn::corpus {

struct Entry {
  std::string_view file;     // where the definition came from
  flow::Workflow (*make)();  // null: it was not valid when this was generated
};

std::span<const Entry> entries();

}  // namespace cairn::corpus
