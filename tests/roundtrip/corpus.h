// The definitions of the corpus as C++ code of the decompiler, generated next to this file.
#pragma once

#include <span>
#include <string_view>

#include "cairn/definition.h"

namespace cairn::corpus {

struct Entry {
  std::string_view file;     // where the definition came from
  flow::Workflow (*make)();  // null: it was invalid when this was generated
};

std::span<const Entry> entries();

}  // namespace cairn::corpus
