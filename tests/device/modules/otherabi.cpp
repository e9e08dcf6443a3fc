// A module of a later program: nothing of its entry but the number may be read.
#include "base/version.h"

extern "C" const int assay_module;
const int assay_module = assay::kModuleAbi + 1;
