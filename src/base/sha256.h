// SHA-256: notices a changed byte, and names what is too long for a name.
#pragma once

#include <string>
#include <string_view>

namespace assay {

std::string sha256(std::string_view bytes);  // 64 hexadecimal digits

}  // namespace assay
