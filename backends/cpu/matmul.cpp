#include "cpu/matmul.h"

#include <string>
#include <utility>

#include "cpu/cpu_buffer.h"
#include "cpu/cpu_stream.h"
#include "cpu/onednn.h"

namespace assay::cpu {
namespace {

using work::Type;

void require_types(const work::Matmul& p) {
    if (work::type_b(p) != p.operand) {
        throw Unsupported("the CPU has no product of " + std::string(work::name(p.operand)) +
                              " with " + std::string(work::name(work::type_b(p))),
                          "give both operands the same type");
    }
    if (p.scale_a != 1 || p.scale_b != 1) throw Unsupported("the CPU has no scaled product");
    const bool known =
        (p.operand == Type::fp32 && p.accumulate == Type::fp32 && p.output == Type::fp32) ||
        (p.operand == Type::bf16 && p.accumulate == Type::fp32 &&
         (p.output == Type::bf16 || p.output == Type::fp32)) ||
        (p.operand == Type::int8 && p.accumulate == Type::int32 && p.output == Type::int32);
    if (known) return;
    throw Unsupported("the CPU has no product of " + std::string(work::name(p.operand)) +
                          " accumulated in " + std::string(work::name(p.accumulate)) + " to " +
                          std::string(work::name(p.output)),
                      "it has fp32 to fp32, bf16 to fp32 or bf16, int8 to int32");
}

class Prepared : public ops::PreparedMatmul {
  public:
    Prepared(OneDnn& library, const work::Matmul& problem, const Topology& topology,
             ThreadTeam& team)
        : product_(library.matmul(problem, preferred_implementation(problem))) {
        if (const auto bytes = product_->scratchpad_bytes(); bytes > 0) {
            scratchpad_ = std::make_unique<CpuBuffer>(bytes, device::kAnyNode, topology, team);
        }
        implementation_ = {.library = "oneDNN",
                           .library_file = library.file(),
                           .library_version = library.version(),
                           .algorithm = product_->implementation(),
                           .path = record::Path::fast,
                           .note = library.note(),
                           .workspace_bytes = product_->scratchpad_bytes(),
                           .threads = library.threads()};
        if (implementation_.algorithm.starts_with("ref")) {
            explain(record::Path::fallback, "oneDNN has only its reference code for this case");
        } else if (!library.native(problem.operand)) {
            explain(record::Path::emulated, "the processor has no instructions that multiply " +
                                                std::string(work::name(problem.operand)));
        }
    }

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream, const ops::MatmulOperands& operands) override {
        CpuStream::of(stream).enqueue([this, operands] {
            product_->execute(operands, scratchpad_ ? scratchpad_->data() : nullptr);
        });
    }

  private:
    void explain(record::Path path, const std::string& why) {
        implementation_.path = path;
        std::string& note = implementation_.note;
        note = note.empty() ? why : why + "; " + note;
    }

    std::unique_ptr<OneDnnMatmul> product_;
    std::unique_ptr<CpuBuffer> scratchpad_;
    ops::Implementation implementation_;
};

}  // namespace

std::string_view preferred_implementation(const work::Matmul& p) {
    // Measured with oneDNN 2.6.3 on two cores with AVX-512 and AMX, alternating: its gemm code
    // beats its own first choice, brgemm on unpacked operands, by 2 x where few rows or a short K
    // leave brgemm's copy of B unpaid, and by 5 to 10 % where that copy no longer fits the cache.
    // Not measured with 3.x: 3.1 has the name too, 3.7 has others and so keeps its own choice.
    const bool large = p.m >= 512 && p.n >= 512;
    const bool wins = p.operand == Type::fp32   ? large || p.m <= 16 || p.k <= 64
                      : p.operand == Type::bf16 ? p.m == 1
                                                : false;
    return wins ? "gemm:jit" : "";
}

std::unique_ptr<ops::PreparedMatmul> CpuMatmul::prepare(const work::Matmul& problem,
                                                        const ops::MatmulChoice& choice) {
    if (!choice.entry.empty() || !choice.algorithm.empty()) {
        throw Unsupported("the CPU has one way to a product, not " + choice.entry +
                          choice.algorithm);
    }
    work::validate(problem);
    require_types(problem);
    return std::make_unique<Prepared>(OneDnn::instance(team_.cores()), problem, topology_, team_);
}

}  // namespace assay::cpu
