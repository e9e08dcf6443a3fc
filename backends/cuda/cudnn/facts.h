// cuDNN's line of the inventory.
#pragma once

#include "record/provenance.h"

namespace assay::cuda {

// Where it can't be opened, or was left out of the build, the reason stands for the version.
record::SoftwareFacts cudnn_facts();

}  // namespace assay::cuda
