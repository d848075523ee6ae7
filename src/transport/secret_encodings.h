// The ways in which a server may spell a secret that it echoes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// As it is, as JSON, hexadecimal and percent encoding write it, and what base64 (both alphabets) makes of it wherever
// it stands in a longer text: one for each of the three ways in which its bytes fall into groups. None for a value so
// short that it would mask half of every text.
std::vector<std::string> spellings_of(std::string_view secret);

}  // namespace cairn
