#include "support/fake_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>

#include "support/fake_stream.h"

namespace assay::device {
namespace {

void queue(Stream& stream, std::function<void()> work, double slowdown = 1) {
    dynamic_cast<FakeStream&>(stream).call(std::move(work), slowdown);
}

ops::Implementation plain_loops() {
    ops::Implementation implementation;
    implementation.library = "fake";
    implementation.library_version = "1";
    implementation.algorithm = "plain loops";
    implementation.path = record::Path::portable;
    implementation.threads = 1;
    return implementation;
}

double gelu(double x) {
    const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(inner));
}

void multiply(const work::Matmul& p, const ops::MatmulOperands& operands, double factor) {
    const auto m = static_cast<std::uint64_t>(p.m), n = static_cast<std::uint64_t>(p.n),
               k = static_cast<std::uint64_t>(p.k);
    const bool ta = work::a_transposed(p.layout), tb = work::b_transposed(p.layout);
    auto* c = static_cast<std::byte*>(operands.c);
    for (std::uint64_t b = 0; b < static_cast<std::uint64_t>(p.batch); ++b) {
        for (std::uint64_t i = 0; i < m; ++i) {
            for (std::uint64_t j = 0; j < n; ++j) {
                double sum = 0;
                for (std::uint64_t l = 0; l < k; ++l) {
                    const auto ai = b * m * k + (ta ? l * m + i : i * k + l);
                    const auto bi = b * k * n + (tb ? j * k + l : l * n + j);
                    sum += work::load(p.operand, operands.a, ai) *
                           work::load(work::type_b(p), operands.b, bi);
                }
                sum *= static_cast<double>(p.scale_a) * static_cast<double>(p.scale_b);
                if (work::has_bias(p.epilogue)) sum += work::load(p.output, operands.bias, j);
                if (work::has_gelu(p.epilogue)) sum = gelu(sum);
                const auto ci = b * m * n + i * n + j;
                work::store(p.output, sum * factor, c + ci * work::size_of(p.output));
            }
        }
    }
}

class FakePreparedMatmul final : public ops::PreparedMatmul {
  public:
    FakePreparedMatmul(const work::Matmul& problem, const FakeScript& script, FakeWay way)
        : problem_(problem), script_(script), way_(std::move(way)) {
        if (way_.name.empty()) return;
        implementation_.algorithm = way_.name;
        implementation_.workspace_bytes = way_.workspace_bytes;
    }
    const ops::Implementation& implementation() const override { return implementation_; }
    void enqueue(Stream& stream, const ops::MatmulOperands& operands) override {
        if (way_.fails) throw Error(way_.name + " can't be launched");
        queue(
            stream,
            [problem = problem_, operands, wrong_by = way_.wrong_by, &script = script_] {
                multiply(problem, operands, 1 + script.wrong_by + wrong_by);
            },
            way_.slowdown);
    }

  private:
    work::Matmul problem_;
    const FakeScript& script_;
    FakeWay way_;
    ops::Implementation implementation_ = plain_loops();
};

std::vector<std::string> names_of(const std::vector<FakeWay>& ways) {
    std::vector<std::string> names;
    for (const auto& way : ways) names.push_back(way.name);
    return names;
}

FakeWay find_way(const std::vector<FakeWay>& ways, const std::string& name) {
    for (const auto& way : ways) {
        if (way.name == name) return way;
    }
    throw Unsupported("the fake device has no way \"" + name + "\" to a product");
}

FakeWay way_of(const FakeScript& script, const ops::MatmulChoice& choice) {
    if (!choice.algorithm.empty()) return find_way(script.algorithms, choice.algorithm);
    if (!choice.entry.empty()) return find_way(script.entries, choice.entry);
    if (!script.algorithms.empty()) return script.algorithms.front();
    return script.entries.empty() ? FakeWay{} : script.entries.front();
}

class FakePreparedMemory final : public ops::PreparedMemory {
  public:
    FakePreparedMemory(const ops::MemoryRequest& request, const FakeScript& script)
        : request_(request), script_(script) {
        if (!request.kernel.empty()) implementation_.algorithm = request.kernel;
    }
    const ops::Implementation& implementation() const override { return implementation_; }
    void enqueue(Stream& stream, const ops::MemoryOperands& operands) override {
        queue(stream, [this, operands] { run(operands); });
    }
    double sum() override { return sum_; }

  private:
    void run(const ops::MemoryOperands& operands) {
        const auto* a = static_cast<const float*>(operands.a);
        const auto* b = static_cast<const float*>(operands.b);
        auto* c = static_cast<float*>(operands.c);
        const auto factor = static_cast<float>(1 + script_.wrong_by);
        double sum = 0;
        for (std::uint64_t i = 0; i < request_.bytes_per_array / sizeof(float); ++i) {
            switch (request_.op) {
                case work::MemoryOp::copy:
                    c[i] = factor * a[i];
                    break;
                case work::MemoryOp::read:
                    sum += static_cast<double>(factor * a[i]);
                    break;
                case work::MemoryOp::write:
                    c[i] = factor * work::kScalar;
                    break;
                case work::MemoryOp::scale:
                    c[i] = factor * (work::kScalar * a[i]);
                    break;
                case work::MemoryOp::add:
                    c[i] = factor * (a[i] + b[i]);
                    break;
                case work::MemoryOp::triad:
                    c[i] = factor * (a[i] + work::kScalar * b[i]);
                    break;
            }
        }
        sum_ = sum;
    }

    ops::MemoryRequest request_;
    const FakeScript& script_;
    double sum_ = 0;
    ops::Implementation implementation_ = plain_loops();
};

class FakePreparedTransfer final : public ops::PreparedTransfer {
  public:
    FakePreparedTransfer(FakeDevice& device, const ops::TransferRequest& request)
        : device_(device), request_(request) {
        const auto add = [&](bool from_host, bool to_host) {
            ends_.push_back({end(from_host), end(to_host), from_host, to_host});
        };
        const auto what = request.what;
        if (what == work::Transfer::device_to_device) add(false, false);
        if (what == work::Transfer::host_to_device || what == work::Transfer::both_ways) {
            add(true, false);
        }
        if (what == work::Transfer::device_to_host || what == work::Transfer::both_ways) {
            add(false, true);
        }
    }
    const ops::Implementation& implementation() const override { return implementation_; }
    void enqueue(Stream& stream) override {
        if (waits() && dynamic_cast<FakeStream&>(stream).held()) {
            throw std::logic_error("copies pageable memory on a stream that is held");
        }
        queue(stream, [this] {
            for (const auto& [from, to, from_host, to_host] : ends_) {
                std::memcpy(to, from, request_.bytes);
                if (std::abs(device_.script.wrong_by) > 0) {
                    static_cast<unsigned char*>(to)[request_.bytes - 1] ^= 1U;
                }
            }
        });
    }
    bool waits() const override {
        return work::uses_host(request_.what) && request_.host == work::HostMemory::pageable;
    }
    std::vector<ops::TransferEnds> ends() const override { return ends_; }

  private:
    void* end(bool host) {
        if (host) return host_.emplace_back(request_.bytes).data();
        return buffers_.emplace_back(device_.allocate(request_.bytes))->data();
    }

    FakeDevice& device_;
    ops::TransferRequest request_;
    std::vector<std::vector<std::byte>> host_;
    std::vector<std::unique_ptr<Buffer>> buffers_;
    std::vector<ops::TransferEnds> ends_;
    ops::Implementation implementation_ = plain_loops();
};

}  // namespace

void FakeFill::enqueue(Stream& stream, const work::FillSpec& spec, work::Type type,
                       std::uint64_t count, void* out) {
    queue(stream, [=] { work::fill(spec, type, 0, count, out); });
}

std::unique_ptr<ops::PreparedMatmul> FakeMatmul::prepare(const work::Matmul& problem,
                                                         const ops::MatmulChoice& choice) {
    if (script_.lacks_types.contains(problem.operand)) {
        throw Unsupported("the fake device has no " + std::string(work::name(problem.operand)));
    }
    auto way = way_of(script_, choice);
    if (way.unsupported) throw Unsupported(way.name + " can't do this product");
    if (way.on_prepare) way.on_prepare();
    return std::make_unique<FakePreparedMatmul>(problem, script_, std::move(way));
}

std::vector<std::string> FakeMatmul::entries() const {
    return names_of(script_.entries);
}

std::vector<std::string> FakeMatmul::algorithms(const work::Matmul& /*problem*/,
                                                std::size_t enumerated) {
    script_.most_enumerated = std::max(script_.most_enumerated, enumerated);
    auto names = names_of(script_.algorithms);
    if (names.size() > 1 + enumerated) names.resize(1 + enumerated);
    return names;
}

std::unique_ptr<ops::PreparedMemory> FakeMemory::prepare(const ops::MemoryRequest& request) {
    const auto& known = script_.kernels;
    if (!request.kernel.empty() && std::ranges::find(known, request.kernel) == known.end()) {
        throw std::logic_error("asks for a kernel that isn't listed: " + request.kernel);
    }
    return std::make_unique<FakePreparedMemory>(request, script_);
}

std::unique_ptr<ops::PreparedTransfer> FakeTransfer::prepare(const ops::TransferRequest& request) {
    return std::make_unique<FakePreparedTransfer>(device_, request);
}

void FakeClockStamps::enqueue(Stream& stream, std::size_t index) {
    auto& time = times_.at(index);
    dynamic_cast<FakeStream&>(stream).pass(5e-6, [&time](double start) { time = start; });
}

std::vector<double> FakeClockStamps::clock_mhz(std::size_t count) {
    std::vector<double> clocks;
    for (std::size_t i = 0; i + 1 < count; ++i) {
        clocks.push_back(script_.clock_mhz((times_.at(i) + times_.at(i + 1)) / 2));
    }
    return clocks;
}

}  // namespace assay::device
