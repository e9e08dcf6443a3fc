#include "judge/evidence.h"

namespace assay::judge {

Evidence gather(const record::Run& run) {
    Evidence evidence{run, {}};
    for (const auto& device : run.provenance.devices) {
        evidence.promises[device.id] = catalog::promises(device);
    }
    return evidence;
}

}  // namespace assay::judge
