#include "judge/evidence.h"

#include "base/error.h"
#include "base/files.h"

namespace assay::judge {

Evidence gather(const record::Run& run) {
    Evidence evidence{run, {}, {}, {}};
    for (const auto& device : run.provenance.devices) {
        evidence.promises[device.id] = catalog::promises(device);
    }
    try {
        evidence.published = catalog::load_published(data_dir() / "published.toml");
    } catch (const Error& error) {
        // What was measured must not be lost to a broken installation.
        evidence.published_problem = error.what();
    }
    return evidence;
}

}  // namespace assay::judge
