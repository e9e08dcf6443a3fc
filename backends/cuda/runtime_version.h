// The CUDA runtime that is built in.
#pragma once

#include <string>

namespace assay::cuda {

std::string cuda_version(int number);  // "13.0" of 13000, as CUDA numbers its versions
std::string runtime_version();

}  // namespace assay::cuda
