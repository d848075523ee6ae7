#include "base/sha256.h"
#include "expr/function.h"

namespace cairn::expr {

namespace {

Value hash(Context& context, std::span<Value> args) {
  const std::string_view bytes = args[0].as_text();
  if (!context.spend_steps(1 + bytes.size() / 16)) return context.error();
  return context.text(sha256_hex(bytes));
}

// RFC 9562, version 8: the first 16 bytes of the hash, overwritten with version and variant.
Value uuid_from(Context& context, std::span<Value> args) {
  const std::string_view name = args[0].as_text();
  if (!context.spend_steps(1 + name.size() / 16)) return context.error();
  auto digest = sha256(name);
  digest[6] = static_cast<std::uint8_t>((digest[6] & 0x0F) | 0x80);
  digest[8] = static_cast<std::uint8_t>((digest[8] & 0x3F) | 0x80);
  std::string text = to_hex({reinterpret_cast<const char*>(digest.data()), 16});
  for (const std::size_t at : {std::size_t{8}, std::size_t{13}, std::size_t{18}, std::size_t{23}})
    text.insert(at, 1, '-');
  return context.text(text);
}

constexpr Overload hash_overloads[] = {
    {"sha256(string) -> string", hash, "The SHA-256 of the text's UTF-8, in hexadecimal.", R"(sha256("abc"))",
     R"("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")"},
    {"sha256(bytes) -> string", hash, "The SHA-256 of the bytes, in hexadecimal.", R"(sha256(b""))",
     R"("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")"},
    {"uuidFrom(string) -> string", uuid_from,
     "A UUID (version 8) made from the text: the same text gives the same UUID.", R"(uuidFrom("abc"))",
     R"("ba7816bf-8f01-8fea-8141-40de5dae2223")"},
};

}  // namespace

Library library_hash() { return {"hash", hash_overloads}; }

}  // namespace cairn::expr
