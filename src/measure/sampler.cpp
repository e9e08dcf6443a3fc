#include "measure/sampler.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/interrupt.h"
#include "measure/runner.h"
#include "measure/settle.h"

namespace assay::measure {
namespace {

// Host time between two readings of the telemetry where the protocol has no bursts: often enough to
// see the power limit act, seldom enough for a reading to be a thousandth of it.
constexpr double kChunkS = 0.1;

// A burst of at least this many samples has its first one thrown away (sampler.h).
constexpr std::size_t kSamplesForLeadIn = 10;

// One sampling in progress.
class Session {
  public:
    Session(Clock& clock, device::Telemetry* telemetry, const Protocol& protocol, Runner& runner,
            Sampling& result)
        : clock_(clock),
          telemetry_(telemetry),
          protocol_(protocol),
          runner_(runner),
          result_(result),
          rule_(protocol.target_half_width, protocol.min_samples,
                static_cast<double>(protocol.min_effective), protocol.max_samples),
          start_(clock.now()) {
        result_.seconds.reserve(protocol.max_samples);
    }

    void run() {
        read_telemetry();
        std::optional<stats::StopReason> stop;
        while (!(stop = reason_to_stop())) {
            run_chunk();
            read_telemetry();
        }
        result_.stop = *stop;
        result_.sampling_s = elapsed();
    }

  private:
    double elapsed() const { return clock_.now() - start_; }

    std::optional<stats::StopReason> reason_to_stop() {
        if (interrupted()) return stats::StopReason::Interrupted;
        const std::size_t n = result_.seconds.size();
        if (n == 0) return std::nullopt;
        if (protocol_.fixed_s > 0) {
            if (elapsed() >= protocol_.fixed_s && n >= protocol_.min_samples) {
                return stats::StopReason::TimeLimit;
            }
            if (n >= protocol_.max_samples) return stats::StopReason::SampleLimit;
        } else if (rule_.due(n)) {
            if (const auto stop = rule_.look(result_.seconds).stop) return stop;
        }
        if (elapsed() + protocol_.idle_s + runner_.sample_s() > protocol_.limit_s) {
            return stats::StopReason::TimeLimit;
        }
        return std::nullopt;
    }

    void run_chunk() {
        std::size_t count = chunk_size();
        if (protocol_.burst_samples > 0) {
            clock_.sleep(protocol_.idle_s);
            if (interrupted()) return;
            if (count >= kSamplesForLeadIn) {
                lead_in_.clear();
                runner_.append(lead_in_, 1);
                --count;
            }
        }
        const std::size_t room = protocol_.max_samples - result_.seconds.size();
        runner_.append(result_.seconds, std::min(count, room), &result_.clock_mhz);
    }

    // Samples that fit into a chunk and into the time left, at least one.
    std::size_t chunk_size() const {
        const double left = protocol_.limit_s - elapsed() - protocol_.idle_s;
        std::size_t most = protocol_.max_samples;
        double time = kChunkS;
        if (protocol_.burst_samples > 0) {
            most = protocol_.burst_samples;
            time = protocol_.burst_s;
        } else if (protocol_.fixed_s > 0) {
            time = std::min(time, protocol_.fixed_s - elapsed());
        }
        return std::clamp<std::size_t>(runner_.fitting(std::min(time, left)), 1, most);
    }

    void read_telemetry() {
        if (telemetry_ == nullptr) return;
        device::Reading reading = telemetry_->read();
        reading.t -= start_;
        auto& readings = result_.telemetry;
        // A device that is asked more often than it looks at itself gives the same reading again.
        if (readings.empty() || reading.t > readings.back().t) readings.push_back(reading);
        for (auto& reason : telemetry_->throttle_reasons()) {
            if (std::ranges::find(result_.throttle_reasons, reason) ==
                result_.throttle_reasons.end()) {
                result_.throttle_reasons.push_back(std::move(reason));
            }
        }
    }

    Clock& clock_;
    device::Telemetry* telemetry_;
    const Protocol& protocol_;
    Runner& runner_;
    Sampling& result_;
    stats::StopRule rule_;
    double start_;
    std::vector<double> lead_in_;
};

}  // namespace

Sampler::Sampler(Clock& clock, device::Telemetry* telemetry, Protocol protocol)
    : clock_(clock), telemetry_(telemetry), protocol_(std::move(protocol)) {}

Sampling Sampler::sample(Subject& subject) {
    Sampling result;
    Runner runner(subject, clock_, protocol_.clear_between);
    result.calls_per_sample = runner.calls_per_sample();
    warm_up(runner, clock_, protocol_.warmup_s);
    if (protocol_.settle) {
        const Settling settling = settle(runner, clock_, protocol_);
        result.settled = settling.settled;
        result.settle_s = settling.seconds;
    }
    Session(clock_, telemetry_, protocol_, runner, result).run();
    return result;
}

}  // namespace assay::measure
