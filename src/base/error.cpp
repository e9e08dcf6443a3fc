#include "base/error.h"

namespace assay {

Error::~Error() = default;
UsageError::~UsageError() = default;
Unsupported::~Unsupported() = default;
DeviceLost::~DeviceLost() = default;
Interrupted::~Interrupted() = default;

}  // namespace assay
