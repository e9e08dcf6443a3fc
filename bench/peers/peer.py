"""The peers' side of the conversation (peer_subject.h): prepare(problem) gives a call and a text."""

import json
import sys
import time


def serve(prepare):
    call = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "prepare":
                call, about = prepare(request)
                value = {"about": about}
            else:
                value = {"seconds": timed(call, request["samples"], request["calls"])}
            reply = {"type": "done", "value": value}
        except Exception as error:  # the driver prints it; the peer lives on
            reply = {"type": "error", "kind": "error", "what": repr(error), "hint": ""}
        print(json.dumps(reply), flush=True)


def timed(call, samples, calls):
    if hasattr(call, "seconds"):  # a device's own timing
        return call.seconds(samples, calls)
    seconds = []
    for _ in range(samples):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        seconds.append((time.perf_counter() - start) / calls)
    return seconds
