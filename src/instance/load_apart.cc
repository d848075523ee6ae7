// Reads a snapshot whose large values are apart.
#include "instance/snapshot.h"
#include "instance/snapshot_format.h"

namespace cairn {

Result<std::optional<Snapshot>> load_apart(const std::function<Result<std::optional<std::string>>()>& head,
                                           const ReadPieces& read) {
  CAIRN_TRY(std::optional<std::string> text, head());
  for (;;) {
    if (!text) return std::optional<Snapshot>();
    bool missing = false;
    auto snapshot = decode_snapshot(*text, read, &missing);
    if (snapshot) return std::optional(std::move(*snapshot));
    if (!missing) return snapshot.error();
    CAIRN_TRY(std::optional<std::string> now, head());
    if (now == text) return snapshot.error();
    text = std::move(now);
  }
}

int format_of(std::string_view encoded) {
  constexpr std::size_t at = snapshot_head.size() + snapshot_checksum_length + snapshot_format_key.size();
  return encoded.size() > at && encoded[at] == '2' ? 2 : 1;
}

}  // namespace cairn
