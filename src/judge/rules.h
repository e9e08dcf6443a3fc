// Every rule, each in the file of its name.
#pragma once

#include "judge/rule.h"

namespace assay::judge {

extern const Rule kNothingMeasured;
extern const Rule kWrongAnswer;
extern const Rule kWrongAlgorithm;
extern const Rule kMemoryKept;
extern const Rule kSelftestFailed;
extern const Rule kFailedCase;
extern const Rule kNoValue;
extern const Rule kAbovePeak;
extern const Rule kAboveDatasheet;
extern const Rule kBelowPromise;
extern const Rule kBusyDevice;
extern const Rule kThrottled;
extern const Rule kNotSteady;
extern const Rule kUntrustedInterval;
extern const Rule kFallback;
extern const Rule kPathParity;
extern const Rule kSizeCliff;
extern const Rule kBackwardSlow;
extern const Rule kSlowerThanCpu;
extern const Rule kNoTelemetry;

}  // namespace assay::judge
