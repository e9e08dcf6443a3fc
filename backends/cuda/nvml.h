// NVML, the driver's management library, opened at run time. Its header isn't part of every
// toolkit, so the few calls used are declared here, by NVIDIA's NVML API reference.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/shared_library.h"

namespace assay::cuda {

class NvmlDevice;

class Nvml {
  public:
    // Opened once a process; ASSAY_LIB_NVML names another file. Null, with the reason in `why`,
    // where there is none.
    static const Nvml* instance(std::string& why);

    std::string driver_version() const;  // "580.159.04", "" when it can't be read
    const std::string& file() const { return library_.file(); }

  private:
    friend class NvmlDevice;
    using Handle = void*;
    struct FieldValue {
        unsigned field = 0, scope = 0;
        long long timestamp = 0, latency_us = 0;
        int type = 0;
        int status = 0;
        union {
            double real;
            unsigned unsigned_int;
            unsigned long unsigned_long;
            unsigned long long unsigned_long_long;
            long long signed_long_long;
        } value = {};
    };
    struct ProcessInfo {
        unsigned pid = 0;
        unsigned long long used_bytes = 0;
        unsigned gpu_instance = 0, compute_instance = 0;
    };

    Nvml();

    device::SharedLibrary library_;
    int (*init_)() = nullptr;
    const char* (*error_string_)(int) = nullptr;
    int (*index_)(Handle, unsigned*) = nullptr;
    int (*driver_version_)(char*, unsigned) = nullptr;
    int (*by_uuid_)(const char*, Handle*) = nullptr;
    int (*by_bus_)(const char*, Handle*) = nullptr;
    int (*clock_)(Handle, int, unsigned*) = nullptr;
    int (*max_clock_)(Handle, int, unsigned*) = nullptr;
    int (*application_clock_)(Handle, int, unsigned*) = nullptr;
    int (*power_)(Handle, unsigned*) = nullptr;
    int (*energy_)(Handle, unsigned long long*) = nullptr;
    int (*temperature_)(Handle, int, unsigned*) = nullptr;
    int (*reasons_)(Handle, unsigned long long*) = nullptr;
    int (*power_limit_)(Handle, unsigned*) = nullptr;
    int (*default_power_limit_)(Handle, unsigned*) = nullptr;
    int (*persistence_)(Handle, int*) = nullptr;
    int (*ecc_)(Handle, int*, int*) = nullptr;
    int (*remapped_rows_)(Handle, unsigned*, unsigned*, unsigned*, unsigned*) = nullptr;
    int (*mig_)(Handle, unsigned*, unsigned*) = nullptr;
    int (*processes_)(Handle, unsigned*, ProcessInfo*) = nullptr;
    int (*fields_)(Handle, int, FieldValue*) = nullptr;
};

// One device of NVML's. What can't be read is none.
class NvmlDevice {
  public:
    // By CUDA's id ("GPU-...", or a slice's "MIG-..."), which CUDA_VISIBLE_DEVICES doesn't
    // renumber; else by the PCI bus id, which is that of the whole card. Throws Unsupported.
    NvmlDevice(const Nvml& nvml, const std::string& uuid, const std::string& bus_id);

    bool whole_card() const { return whole_card_; }  // where CUDA's device may be a slice of it
    std::optional<int> index() const;                // NVML's number of the card
    std::optional<double> clock_mhz() const;         // of the multiprocessors; lags by tens of ms
    std::optional<double> memory_clock_mhz() const;
    std::optional<double> max_clock_mhz() const;
    std::optional<double> power_now_w() const;      // field 186
    std::optional<double> power_average_w() const;  // over the last second
    std::optional<double> energy_j() const;         // since the driver was loaded
    std::optional<double> temperature_c() const;
    std::optional<double> power_limit_w() const;  // the one in force
    std::vector<std::string> throttle_reasons() const;
    // Power limits, persistence, application clocks, ECC, row remaps, MIG.
    std::map<std::string, std::string> settings() const;
    // Processes that compute on the device, this one left out, by pid and memory; empty when there
    // is none.
    std::string other_processes() const;

  private:
    std::optional<double> field(unsigned id, double scale) const;

    const Nvml& nvml_;
    Nvml::Handle handle_ = nullptr;
    bool whole_card_ = false;
};

// The names of a bit set of reasons (nvmlClocksEventReasons), without "idle".
std::vector<std::string> reason_names(unsigned long long reasons);

}  // namespace assay::cuda
