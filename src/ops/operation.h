// What every prepared operation can say of itself.
#pragma once

#include <cstdint>
#include <string>

#include "record/path.h"

namespace assay::ops {

struct Implementation {
    std::string library, library_file, library_version;
    std::string algorithm;  // the library's own name for what it chose
    record::Path path = record::Path::unknown;
    std::string note;  // why it isn't `fast`, when it isn't
    std::uint64_t workspace_bytes = 0;
    int threads = 0;  // CPU only
};

class Operation {
  public:
    virtual ~Operation() = default;
    virtual const Implementation& implementation() const = 0;
};

}  // namespace assay::ops
