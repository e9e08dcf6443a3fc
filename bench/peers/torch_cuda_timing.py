"""Calls on a GPU, timed by its own events."""

import torch


class Timed:
    """Samples by CUDA events behind a kernel that keeps the stream busy while they are queued."""

    def __init__(self, calls):
        self.calls = calls
        self.next = 0
        for call in calls:
            call()
        torch.cuda.synchronize()

    def seconds(self, samples, calls):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(samples + 1)]
        torch.cuda._sleep(2_000_000)  # about 1 ms of cycles
        events[0].record()
        for i in range(samples):
            for _ in range(calls):
                self.calls[self.next % len(self.calls)]()
                self.next += 1
            events[i + 1].record()
        torch.cuda.synchronize()
        return [events[i].elapsed_time(events[i + 1]) / 1e3 / calls for i in range(samples)]
