#include <string>
#include <vector>

#include "report/csv_row.h"
#include "report/format.h"

namespace assay::report {

std::string csv_text(const record::Run& run) {
    std::string out;
    const std::vector<std::string> header{"run",           "probe",  "device",     "protocol",
                                          "case",          "status", "reason",     "path",
                                          "metric",        "value",  "unit",       "interval_low",
                                          "interval_high", "n",      "effective_n"};
    append_row(out, header);
    for (const auto& result : run.results) {
        const std::vector<std::string> about{run.id,
                                             result.probe,
                                             result.device,
                                             result.conditions.protocol,
                                             result.what.text(),
                                             std::string(record::name(result.status)),
                                             result.reason,
                                             std::string(record::name(result.path))};
        if (result.metrics.empty()) {
            auto row = about;
            row.resize(header.size());
            append_row(out, row);
        }
        for (const auto& metric : result.metrics) {
            auto row = about;
            row.push_back(metric.name);
            row.push_back(csv_number(metric.value));
            row.push_back(metric.unit);
            row.push_back(metric.interval ? csv_number(metric.interval->first) : "");
            row.push_back(metric.interval ? csv_number(metric.interval->second) : "");
            row.push_back(std::to_string(metric.n));
            row.push_back(metric.effective_n ? csv_number(*metric.effective_n) : "");
            append_row(out, row);
        }
    }
    return out;
}

}  // namespace assay::report
