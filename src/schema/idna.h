// Internationalized host names in their ASCII form.
#pragma once

#include <string_view>

namespace cairn::schema {

// Whether the part of a label after `xn--` decodes (RFC 3492) to a name that RFC 5891 and 5892 allow.
bool is_encoded_label(std::string_view punycode);

}  // namespace cairn::schema
