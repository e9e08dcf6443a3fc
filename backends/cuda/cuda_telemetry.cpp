#include "cuda/cuda_telemetry.h"

#include <chrono>

#include <fmt/format.h>

#include "base/error.h"
#include "base/time.h"

namespace assay::cuda {

namespace {
constexpr std::chrono::milliseconds kPause{20};
}

CudaTelemetry::CudaTelemetry(const std::string& uuid, const std::string& bus_id) {
    const auto* nvml = Nvml::instance(why_);
    if (nvml == nullptr) return;
    try {
        nvml_.emplace(*nvml, uuid, bus_id);
    } catch (const Unsupported& error) {
        why_ = error.what();
    }
}

CudaTelemetry::~CudaTelemetry() = default;

CudaTelemetry::Answer CudaTelemetry::ask() const {
    Answer answer;
    answer.reading.t = monotonic_seconds();
    if (!nvml_) return answer;
    answer.reading.clock_mhz = nvml_->clock_mhz();
    answer.reading.power_w = nvml_->power_now_w();
    answer.reading.energy_j = nvml_->energy_j();
    answer.reading.temperature_c = nvml_->temperature_c();
    answer.reasons = nvml_->throttle_reasons();
    return answer;
}

void CudaTelemetry::keep_asking(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        auto answer = ask();
        std::unique_lock lock(mutex_);
        latest_ = std::move(answer);
        stopped_.wait_for(lock, stop, kPause, [] { return false; });
    }
}

CudaTelemetry::Answer CudaTelemetry::latest() {
    if (!asker_.joinable()) {
        latest_ = ask();
        asker_ = std::jthread([this](const std::stop_token& stop) { keep_asking(stop); });
    }
    const std::lock_guard lock(mutex_);
    return latest_;
}

device::Reading CudaTelemetry::read() {
    return latest().reading;
}

std::vector<std::string> CudaTelemetry::throttle_reasons() {
    return latest().reasons;
}

std::string CudaTelemetry::clock_source() const {
    return nvml_ ? "NVML, which lags by tens of milliseconds" : "unavailable: " + why_;
}

std::string CudaTelemetry::power_source() const {
    if (!nvml_) return "unavailable: " + why_;
    return nvml_->whole_card() ? "NVML, power now (field 186), of the whole card"
                               : "NVML, power now (field 186)";
}

std::map<std::string, std::string> CudaTelemetry::settings() {
    if (!nvml_) return {};
    auto settings = nvml_->settings();
    if (auto others = nvml_->other_processes(); !others.empty()) {
        settings["other_processes"] = std::move(others);
    }
    if (const auto average = nvml_->power_average_w()) {
        settings["power_average_w"] = fmt::format("{:g}", *average);
    }
    return settings;
}

}  // namespace assay::cuda
