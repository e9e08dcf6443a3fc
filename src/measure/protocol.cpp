#include "measure/protocol.h"

#include "base/text.h"

namespace assay::measure {

Protocol boost() {
    Protocol protocol;
    protocol.name = "boost";
    protocol.burst_samples = 20;
    protocol.burst_s = 0.03;
    protocol.idle_s = 0.25;
    return protocol;
}

Protocol sustained() {
    Protocol protocol;
    protocol.name = "sustained";
    protocol.settle = true;
    return protocol;
}

Protocol article() {
    Protocol protocol;
    protocol.name = "article";
    protocol.warmup_s = 0.03;
    protocol.clear_between = true;
    protocol.fixed_s = 0.2;
    return protocol;
}

Protocol parse_protocol(std::string_view name) {
    for (const auto& protocol : {boost(), sustained(), article()}) {
        if (protocol.name == name) return protocol;
    }
    throw_unknown("protocol", name, protocol_names());
}

std::vector<std::string> protocol_names() {
    return {boost().name, sustained().name, article().name};
}

}  // namespace assay::measure
