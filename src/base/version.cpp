#include "base/version.h"

namespace assay {

std::string_view version() {
    return ASSAY_VERSION;
}

std::string_view build() {
    return ASSAY_BUILD_TYPE ", " ASSAY_COMPILER;
}

}  // namespace assay
