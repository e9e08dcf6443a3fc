#include "suite/worker.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "device/loader.h"
#include "measure/clock.h"
#include "measure/protocol.h"
#include "probes/probe.h"
#include "record/json.h"
#include "suite/reason.h"

namespace assay::suite {

namespace {

Json resolve(const std::string& device) {
    std::vector<std::string> passed_over;
    auto devices = device::resolve_devices(device, &passed_over);
    return {{"devices", std::move(devices)}, {"passed_over", std::move(passed_over)}};
}

Json list_modules() {
    Json modules = Json::array();
    for (const auto& file : device::find_modules()) {
        modules.push_back({{"kind", file.kind}, {"file", file.file}});
    }
    return {{"modules", std::move(modules)}};
}

Json look_into(const std::string& kind) {
    auto& module = device::open_module(kind);
    record::Provenance provenance;
    std::string why;
    provenance.devices = module.list(why);
    provenance.software = module.software();
    return {{"provenance", record::to_json(provenance)}, {"why", why}};
}

}  // namespace

Json Worker::open(const std::string& id) {
    device_ = device::open_device(id);
    record::Provenance provenance;
    provenance.devices = {device_->facts()};
    provenance.software = device::open_module(device_->facts().kind).software();
    return {{"provenance", record::to_json(provenance)}};
}

Json Worker::measure(const Json& request, const std::function<void(const Json&)>& send) {
    auto result = record::result_from_json(request.at("result"));
    const auto& probe = probes::find_probe(result.probe);
    if (!device_ || device_->facts().id != result.device) open(result.device);

    measure::SteadyClock clock;
    auto protocol = measure::parse_protocol(request.at("protocol").get<std::string>());
    protocol.limit_s = request.at("limit_s").get<double>();
    probes::Bench bench{*device_, clock, protocol, integer_of(request.at("seed"))};
    if (is_accelerator(device_->facts())) {
        bench.open_host_cpu = [] { return device::open_device("cpu"); };
    }
    if (send) {
        bench.about_to_run = [&send](const ops::Implementation& running) {
            send({{"type", "library"},
                  {"library", running.library},
                  {"version", running.library_version},
                  {"file", running.library_file}});
        };
    }
    result.conditions.protocol = protocol.name;
    try {
        probe.run(result.what, bench, result);
        result.metrics = probe.metrics(result);
        const auto wrong = std::ranges::find(result.checks, false, &record::Check::passed);
        if (wrong != result.checks.end()) {
            result.status = record::Status::failed;
            result.reason = fmt::format("{}: {}", wrong->name, wrong->detail);
            result.metrics.clear();  // a wrong answer has no speed
        }
    } catch (const DeviceLost&) {
        throw;
    } catch (const Interrupted&) {
        throw;
    } catch (const Unsupported& error) {
        result.status = record::Status::skipped;
        result.reason = reason(error.what(), error.hint());
    } catch (const Error& error) {
        result.status = record::Status::failed;
        result.reason = reason(error.what(), error.hint());
    } catch (const std::exception& error) {  // out of memory, or a vendor's own
        result.status = record::Status::failed;
        result.reason = error.what();
    }
    return {{"result", record::to_json(result)}};
}

Json Worker::answer(const Json& request, const std::function<void(const Json&)>& send) {
    const auto& what = request.at("do").get_ref<const std::string&>();
    if (what == "resolve") return resolve(request.at("device").get<std::string>());
    if (what == "modules") return list_modules();
    if (what == "module") return look_into(request.at("kind").get<std::string>());
    if (what == "open") return open(request.at("device").get<std::string>());
    if (what == "measure") return measure(request, send);
    throw Error("a worker was asked to \"" + what + "\"");
}

}  // namespace assay::suite
