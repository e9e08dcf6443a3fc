#include "cuda/lt_algorithms.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"

namespace assay::cuda {

namespace {

using Algorithm = cublasLtMatmulAlgo_t;

constexpr std::uint16_t kMostClusters = CUBLASLT_CLUSTER_SHAPE_END;
constexpr std::array kSplits{2, 4, 8};
constexpr std::size_t kMostOfATile = 2;
constexpr std::chrono::milliseconds kSearchLimit{
    500};  // of the host; the tiles not reached are left out
constexpr const char* kData = " data=";

template <class Value>
void read(const Algorithm& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute,
          Value& value) {
    std::size_t written = 0;
    // An attribute that an algorithm lacks keeps its default.
    (void)CublasLt::instance().matmul_algo_config_get_attribute(&algorithm, attribute, &value,
                                                                sizeof value, &written);
}

template <class Value>
bool write(Algorithm& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute, Value value) {
    return CublasLt::instance().matmul_algo_config_set_attribute(
               &algorithm, attribute, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
}

bool apply(const LtConfig& config, Algorithm& algorithm) {
    return write(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, config.tile) &&
           write(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID, config.stages) &&
           write(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, config.split_k) &&
           write(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, config.reduction) &&
           write(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, config.swizzle) &&
           write(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, config.custom) &&
           write(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, config.cluster);
}

std::vector<int> ids(const Algorithm& algorithm, cublasLtMatmulAlgoCapAttributes_t capability) {
    const auto& library = CublasLt::instance();
    std::size_t bytes = 0;
    if (library.matmul_algo_cap_get_attribute(&algorithm, capability, nullptr, 0, &bytes) !=
            CUBLAS_STATUS_SUCCESS ||
        bytes == 0) {
        return {0};
    }
    std::vector<int> values(bytes / sizeof(int));
    (void)library.matmul_algo_cap_get_attribute(&algorithm, capability, values.data(), bytes,
                                                &bytes);
    return values;
}

int most(const Algorithm& algorithm, cublasLtMatmulAlgoCapAttributes_t capability) {
    int value = 0;
    std::size_t written = 0;
    (void)CublasLt::instance().matmul_algo_cap_get_attribute(&algorithm, capability, &value,
                                                             sizeof value, &written);
    return value;
}

struct Candidate {
    Algorithm algorithm;
    LtConfig config;
    double promise = 0;
};

// Everything the library can run of one algorithm id, by tile, stages, cluster, swizzle, custom
// option and split of K.
class Search {
  public:
    Search(const LtProblem& problem, const std::set<LtConfig>& known,
           std::chrono::steady_clock::time_point end)
        : problem_(problem), known_(known), end_(end) {}

    void look_into(int id, std::vector<Candidate>& found) {
        Algorithm algorithm{};
        if (!problem_.init(id, algorithm)) return;
        LtConfig config;
        config.id = id;
        for (const int tile : ids(algorithm, CUBLASLT_ALGO_CAP_TILE_IDS)) {
            config.tile = tile;
            for (const int stages : ids(algorithm, CUBLASLT_ALGO_CAP_STAGES_IDS)) {
                config.stages = stages;
                look_into_tile(algorithm, config, found);
                if (std::chrono::steady_clock::now() > end_) return;
            }
        }
    }

  private:
    void look_into_tile(const Algorithm& algorithm, LtConfig config,
                        std::vector<Candidate>& found) {
        const int customs = most(algorithm, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX);
        const int swizzles = most(algorithm, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT);
        const bool splits = most(algorithm, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) != 0;
        for (std::uint16_t cluster = 0; cluster < kMostClusters; ++cluster) {
            config.cluster = cluster;
            for (config.custom = 0; config.custom <= customs; ++config.custom) {
                for (config.swizzle = 0; config.swizzle <= swizzles; ++config.swizzle) {
                    config.split_k = 1;
                    config.reduction = 0;
                    const double waves = try_one(algorithm, config, found);
                    // K is worth splitting only where a wave isn't full otherwise.
                    if (!splits || !(waves > 0 && waves < 1)) continue;
                    config.reduction = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
                    for (const int split : kSplits) {
                        config.split_k = split;
                        try_one(algorithm, config, found);
                    }
                }
            }
        }
    }

    // Waves of blocks, 0 where the library can't run it.
    double try_one(Algorithm algorithm, const LtConfig& config, std::vector<Candidate>& found) {
        cublasLtMatmulHeuristicResult_t result{};
        if (!apply(config, algorithm) || !problem_.check(algorithm, result)) return 0;
        if (result.workspaceSize > kLtWorkspaceBytes) return 0;
        const double waves = static_cast<double>(result.wavesCount);
        if (known_.contains(config_of(algorithm))) return waves;
        // A whole product takes `waves` of blocks, so that 1 / waves is the area of a tile.
        const double fill = waves > 0 ? waves / std::ceil(waves) : 0;
        found.push_back({algorithm, config, waves > 0 ? fill / waves * config.split_k : 0});
        return waves;
    }

    const LtProblem& problem_;
    const std::set<LtConfig>& known_;
    std::chrono::steady_clock::time_point end_;
};

}  // namespace

LtConfig config_of(const Algorithm& algorithm) {
    LtConfig config;
    read(algorithm, CUBLASLT_ALGO_CONFIG_ID, config.id);
    read(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, config.tile);
    read(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID, config.stages);
    read(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, config.split_k);
    read(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, config.reduction);
    read(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, config.swizzle);
    read(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, config.custom);
    read(algorithm, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, config.inner_shape);
    read(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, config.cluster);
    return config;
}

std::string name_of(const LtConfig& config) {
    return fmt::format("algorithm {} tile {} stages {} cluster {} split-K {} swizzle {} custom {}",
                       config.id, config.tile, config.stages, config.cluster, config.split_k,
                       config.swizzle, config.custom);
}

std::string to_text(const Algorithm& algorithm) {
    std::string text = name_of(config_of(algorithm)) + kData;
    for (const auto word : algorithm.data) text += fmt::format("{:016x}", word);
    return text;
}

Algorithm from_text(const std::string& text) {
    Algorithm algorithm{};
    constexpr std::size_t kDigits = 16;
    const auto at = text.find(kData);
    const auto digits = at == text.npos ? std::string() : text.substr(at + std::strlen(kData));
    bool right = digits.size() == kDigits * std::size(algorithm.data);
    for (std::size_t i = 0; right && i < std::size(algorithm.data); ++i) {
        unsigned long long word = 0;
        const auto part = digits.substr(i * kDigits, kDigits);
        right = part.find_first_not_of("0123456789abcdef") == part.npos &&
                std::sscanf(part.c_str(), "%llx", &word) == 1;
        algorithm.data[i] = word;
    }
    if (!right) throw Error("\"" + text + "\" is no algorithm of cuBLASLt's");
    return algorithm;
}

std::vector<Algorithm> find_algorithms(const LtProblem& problem, std::size_t enumerated) {
    std::vector<Algorithm> algorithms;
    std::set<LtConfig> known;
    std::vector<int> order;  // ids, those of the heuristic's list first
    for (const auto& result : problem.heuristic(kLtWorkspaceBytes)) {
        const auto config = config_of(result.algo);
        if (!known.insert(config).second) continue;
        algorithms.push_back(result.algo);
        if (std::ranges::find(order, config.id) == order.end()) order.push_back(config.id);
    }
    for (const int id : problem.algorithm_ids()) {
        if (std::ranges::find(order, id) == order.end()) order.push_back(id);
    }
    Search search(problem, known, std::chrono::steady_clock::now() + kSearchLimit);
    // Tiles in turn first: then what is left of the most promising.
    std::vector<Candidate> left;
    std::map<int, std::size_t> of_tile;
    const auto end = algorithms.size() + enumerated;
    for (const int id : order) {
        std::vector<Candidate> found;
        search.look_into(id, found);
        std::ranges::stable_sort(found, std::ranges::greater{}, &Candidate::promise);
        for (const auto& candidate : found) {
            if (algorithms.size() == end) return algorithms;
            if (of_tile[candidate.config.tile]++ < kMostOfATile) {
                algorithms.push_back(candidate.algorithm);
            } else {
                left.push_back(candidate);
            }
        }
    }
    for (const auto& candidate : left) {
        if (algorithms.size() == end) break;
        algorithms.push_back(candidate.algorithm);
    }
    return algorithms;
}

}  // namespace assay::cuda
