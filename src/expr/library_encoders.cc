// Bytes as text and back.
#include "expr/base64.h"
#include "expr/function.h"

namespace cairn::expr {

namespace {

using Args = std::span<Value>;

Value encode(Context& context, Args args) {
  const std::size_t size = args[0].as_text().size();
  if (!context.spend_steps(size / 8) || !context.spend_bytes(size + size / 3)) return context.error();
  return context.text(base64_encode(args[0].as_text()));
}

Value decode(Context& context, Args args) {
  if (!context.spend_steps(args[0].as_text().size() / 8)) return context.error();
  const auto bytes = base64_decode(args[0].as_text());
  if (!bytes) return context.fail("invalid_argument", "the text is not base64");
  return context.bytes(*bytes);
}

const Overload encoders_overloads[] = {
    {"base64.encode(bytes) -> string", encode, "The bytes as base64 text.", "base64.encode(b\"hello\")",
     "\"aGVsbG8=\""},
    {"base64.decode(string) -> bytes", decode, "The bytes of base64 text, with or without padding.",
     "base64.decode(\"aGVsbG8\")", "b\"hello\""},
};

}  // namespace

Library library_encoders() { return {"encoders", encoders_overloads}; }

}  // namespace cairn::expr
