// The encodings in which a server may echo a secret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// The secret itself, its JSON, hexadecimal and percent encodings, and its base64 encodings (both alphabets, and all
// three alignments inside a longer text). Returns nothing for a value so short that masking it would damage unrelated
// text.
std::vector<std::string> spellings_of(std::string_view secret);

}  // namespace cairn
