// The child's side.
#pragma once

#include <functional>

#include "base/json.h"

namespace assay::crew {

// Sends news, an object with a "type" other than done, error and heartbeat, to the parent at once.
// From any thread, while the handler runs.
using Send = std::function<void(const Json& news)>;

// Answers one request: what it returns is what the parent's request() returns, what it throws is
// thrown there (UsageError, Unsupported, DeviceLost by type, anything else as Error).
using Handler = std::function<Json(const Json& request, const Send& send)>;

// Answers requests, one after the other on the calling thread, until the end of input, while a
// second thread sends heartbeats. A DeviceLost ends the program at once when it is reported, with
// status kExitFailed: taking down a lost device in good order may hang.
//
// Call it once, early in main(). It gives SIGTERM, SIGINT and SIGHUP their default action back,
// makes a crash name its library on standard error, and takes descriptors 0 and 3 away, so that
// neither a library nor a grandchild can read requests or write replies. Standard output goes where
// standard error goes. Throws UsageError when the program was not started by a Child.
void serve(const Handler& handler);

}  // namespace assay::crew
