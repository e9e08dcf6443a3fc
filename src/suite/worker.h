// The child's side of a measurement: opens a device, runs the cases it is asked for.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "device/device.h"

namespace assay::suite {

// Requests, as JSON objects:
//   {"do":"resolve","device":TEXT} -> {"devices":[ID, ...],"passed_over":["KIND: WHY", ...]}
//   {"do":"modules"}               -> {"modules":[{"kind","file"}, ...]}
//   {"do":"module","kind":KIND}    -> {"provenance":P,"why":TEXT}    why there is no device, or ""
//   {"do":"open","device":ID}      -> {"provenance":P}
//   {"do":"measure","result":RESULT,"protocol":NAME,"limit_s":S,"seed":N} -> {"result":RESULT}
// P is a record::Provenance of devices and software, RESULT a record::Result with probe, device and
// case. What a case can't do becomes a skipped result; an error in it a failed one; DeviceLost and
// Interrupted are thrown.
class Worker {
  public:
    // While a case runs, `send` is told which library does:
    //   {"type":"library","library":NAME,"version":TEXT,"file":PATH}
    Json answer(const Json& request, const std::function<void(const Json&)>& send = {});

  private:
    Json open(const std::string& id);
    Json measure(const Json& request, const std::function<void(const Json&)>& send);

    std::unique_ptr<device::Device> device_;
};

}  // namespace assay::suite
