// Copies by the CUDA runtime.
#pragma once

#include "ops/transfer.h"

namespace assay::cuda {

class CudaTransfer : public ops::Transfer {
  public:
    std::unique_ptr<ops::PreparedTransfer> prepare(const ops::TransferRequest& request) override;
};

}  // namespace assay::cuda
