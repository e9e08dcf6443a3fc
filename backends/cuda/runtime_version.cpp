#include "cuda/runtime_version.h"

#include <cuda_runtime.h>

namespace assay::cuda {

std::string cuda_version(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string runtime_version() {
    int number = 0;
    (void)cudaRuntimeGetVersion(&number);
    return cuda_version(number);
}

}  // namespace assay::cuda
