#include "cpu/matmul.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "cpu/affinity.h"
#include "cpu/cpu_device.h"
#include "cpu/facts.h"
#include "cpu/openmp.h"
#include "cpu/sysfs.h"
#include "device_under_test.h"

namespace assay::cpu {
namespace {

using testing::HasSubstr;
using work::Epilogue;
using work::Layout;
using work::Type;

struct Types {
    Type operand, accumulate, output;
};
constexpr Types kTypes[] = {{Type::fp32, Type::fp32, Type::fp32},
                            {Type::bf16, Type::fp32, Type::bf16},
                            {Type::bf16, Type::fp32, Type::fp32},
                            {Type::int8, Type::int32, Type::int32}};

struct Shape {
    std::int64_t m, n, k, batch;
};

double gelu(double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

// One product's operands on the device, and the product in fp64.
class Example {
  public:
    explicit Example(const work::Matmul& problem) : problem_(problem) {
        const auto values_a = values(problem.operand, *a_, work::a_elements(problem), 0);
        const auto values_b = values(problem.operand, *b_, work::b_elements(problem), 1);
        bias_values_ = values(problem.output, *bias_, static_cast<std::uint64_t>(problem.n), 2);
        const bool at = work::a_transposed(problem.layout);
        const bool bt = work::b_transposed(problem.layout);
        const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
        for (std::int64_t batch = 0; batch < problem.batch; ++batch) {
            const double* a = values_a.data() + batch * m * k;
            const double* b = values_b.data() + batch * k * n;
            for (std::int64_t i = 0; i < m; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    Element element;
                    for (std::int64_t l = 0; l < k; ++l) {
                        const double term =
                            a[at ? l * m + i : i * k + l] * b[bt ? j * k + l : l * n + j];
                        element.sum += term;
                        element.magnitude += std::abs(term);
                    }
                    elements_.push_back(element);
                }
            }
        }
    }

    // Runs it with an epilogue and checks every element. The bound: k roundings of the sum of |a b|
    // in the accumulator (none for integers, exact below 2^24 where an epilogue goes through fp32),
    // the epilogue's own error, one rounding to the output.
    void check(Epilogue epilogue) {
        work::Matmul p = problem_;
        p.epilogue = epilogue;
        const auto prepared = device_.need<ops::Matmul>().prepare(p);
        prepared->enqueue(
            *stream_, {a_->data(), b_->data(), work::has_bias(epilogue) ? bias_->data() : nullptr,
                       c_->data()});
        stream_->synchronize();

        const bool integer = work::is_integer(p.operand);
        const double unit = integer ? 0 : work::unit_roundoff(Type::fp32);
        for (std::size_t i = 0; i < elements_.size(); ++i) {
            double expected = elements_[i].sum;
            double bound = static_cast<double>(p.k) * unit * elements_[i].magnitude;
            if (work::has_bias(epilogue)) {
                expected += bias_values_[i % bias_values_.size()];
                bound += unit * std::abs(expected);
            }
            if (work::has_gelu(epilogue)) {
                expected = gelu(expected);
                bound = 1.2 * bound + 1e-5 * (1 + std::abs(expected));
                if (integer) bound += 0.5;  // to the nearest integer; near a half either is right
            }
            if (!integer) bound += work::unit_roundoff(p.output) * (std::abs(expected) + bound);
            ASSERT_NEAR(work::load(p.output, c_->data(), i), expected, bound)
                << work::name(p.operand) << "->" << work::name(p.output) << ' '
                << work::name(p.layout) << ' ' << work::name(epilogue) << ' ' << p.m << 'x' << p.n
                << 'x' << p.k << " batch " << p.batch << ", element " << i << ", by "
                << prepared->implementation().algorithm;
        }
    }

  private:
    struct Element {
        double sum = 0, magnitude = 0;
    };

    std::unique_ptr<device::Buffer> allocate(Type type, std::uint64_t count) {
        return device_.allocate(count * work::size_of(type));
    }
    std::vector<double> values(Type type, device::Buffer& buffer, std::uint64_t count,
                               std::uint32_t fill_stream) {
        device_.need<ops::Fill>().enqueue(*stream_, {.seed = 3, .stream = fill_stream}, type, count,
                                          buffer.data());
        std::vector<double> result(count);
        for (std::uint64_t i = 0; i < count; ++i) result[i] = work::load(type, buffer.data(), i);
        return result;
    }

    work::Matmul problem_;
    device::Device& device_ = device_under_test();
    std::unique_ptr<device::Stream> stream_ = device_.create_stream();
    std::unique_ptr<device::Buffer> a_ = allocate(problem_.operand, work::a_elements(problem_));
    std::unique_ptr<device::Buffer> b_ = allocate(problem_.operand, work::b_elements(problem_));
    std::unique_ptr<device::Buffer> c_ = allocate(problem_.output, work::c_elements(problem_));
    std::unique_ptr<device::Buffer> bias_ =
        allocate(problem_.output, static_cast<std::uint64_t>(problem_.n));
    std::vector<double> bias_values_;
    std::vector<Element> elements_;
};

// Threads of this process, other than this one, that may run on one processor only, by processor.
std::map<std::string, int> pinned_threads() {
    std::map<std::string, int> count;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        if (task.path().filename() == std::to_string(gettid())) continue;
        const auto status = read_text(task.path() / "status").value_or("");
        ++count[field_of(status, "Cpus_allowed_list").value_or("")];
    }
    return count;
}

class Products : public testing::TestWithParam<Types> {
  protected:
    static work::Matmul problem(const Shape& s, Layout layout) {
        const Types types = GetParam();
        return {.m = s.m,
                .n = s.n,
                .k = s.k,
                .batch = s.batch,
                .operand = types.operand,
                .accumulate = types.accumulate,
                .output = types.output,
                .layout = layout};
    }
};

TEST_P(Products, MatchTheReferenceInEveryLayoutAndEpilogue) {
    for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{1, 7, 5, 1}, Shape{5, 1, 3, 2},
                               Shape{17, 31, 13, 1}, Shape{37, 64, 96, 3}, Shape{67, 71, 131, 1}}) {
        for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn, Layout::tt}) {
            Example example(problem(shape, layout));
            for (const Epilogue epilogue :
                 {Epilogue::none, Epilogue::bias, Epilogue::gelu, Epilogue::bias_gelu}) {
                example.check(epilogue);
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST_P(Products, MatchTheReferenceWhereLargeOnesTakeAnotherImplementation) {
    Example(problem({521, 523, 67, 1}, Layout::nn)).check(Epilogue::bias_gelu);
}

INSTANTIATE_TEST_SUITE_P(OfEachType, Products, testing::ValuesIn(kTypes), [](const auto& types) {
    return std::string(work::name(types.param.operand)) + "_to_" +
           std::string(work::name(types.param.output));
});

TEST(CpuMatmul, NamesLibraryAlgorithmAndPath) {
    const auto prepared =
        device_under_test().need<ops::Matmul>().prepare({.m = 64, .n = 64, .k = 64});
    const ops::Implementation& how = prepared->implementation();
    EXPECT_EQ(how.library, "oneDNN");
    EXPECT_THAT(how.library_file, HasSubstr("libdnnl"));
    EXPECT_THAT(how.library_version, testing::MatchesRegex("[23]\\.[0-9]+\\.[0-9]+"));
    EXPECT_EQ(how.path, record::Path::fast);
    EXPECT_GE(how.threads, 1);
}

// What is pinned where after a product was prepared by a pinned thread, and run.
bool every_core_is_used_and_the_affinity_left() {
    for (const auto& [name, value] : openmp_settings({})) unsetenv(name.c_str());
    const auto before = thread_affinity();
    const auto cores = usable_cores(Topology());
    std::map<std::string, int> expected;  // one thread of the team's and one of libgomp's
    for (std::size_t i = 1; i < cores.size(); ++i) {
        expected[std::to_string(cores[i].cpus.front())] = 2;
    }
    CpuDevice cpu;
    device::Device& device = cpu;
    const auto buffer = device.allocate(std::size_t{3} * 256 * 256 * 4);
    auto* c = static_cast<float*>(buffer->data());
    const auto stream = device.create_stream();
    const auto event = device.create_event();
    stream->record(*event);
    const auto product = device.need<ops::Matmul>().prepare({.m = 256, .n = 256, .k = 256});
    product->enqueue(*stream, {c + 65536, c + 131072, nullptr, c});
    stream->synchronize();
    return pinned_threads() == expected &&
           product->implementation().threads == device.facts().compute_units &&
           thread_affinity() == before;
}

// libgomp keeps the places it may use from the thread that loads it: a pinned one would leave it a
// single core. In a fresh process: in this one the library may be open already.
TEST(CpuMatmul, UsesEveryCoreAndLeavesTheCallersAffinity) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(std::exit(every_core_is_used_and_the_affinity_left() ? 0 : 1),
                testing::ExitedWithCode(0), "");
}

TEST(CpuMatmul, RunsInAGraph) {
    auto& device = device_under_test();
    const auto stream = device.create_stream();
    const auto a = device.allocate(16 * 16 * 4);
    const auto c = device.allocate(16 * 16 * 4);
    auto& fill = device.need<ops::Fill>();
    fill.enqueue(*stream, {.distribution = work::Distribution::ones}, Type::fp32, 256, a->data());
    fill.enqueue(*stream, {.distribution = work::Distribution::zeros}, Type::fp32, 256, c->data());
    const auto prepared = device.need<ops::Matmul>().prepare({.m = 16, .n = 16, .k = 16});
    const auto graph = stream->capture([&] {
        prepared->enqueue(*stream, {a->data(), a->data(), nullptr, c->data()});
    });
    EXPECT_EQ(work::load(Type::fp32, c->data(), 0), 0);
    graph->launch(*stream);
    EXPECT_EQ(work::load(Type::fp32, c->data(), 255), 16);
}

TEST(CpuMatmul, RefusesTypesItHasNotAndShapesWithoutMeaning) {
    auto& matmul = device_under_test().need<ops::Matmul>();
    const auto refusal = [&](const work::Matmul& problem) -> std::string {
        try {
            (void)matmul.prepare(problem);
        } catch (const Unsupported& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(refusal({.m = 8, .n = 8, .k = 8, .operand = Type::fp16, .output = Type::fp16}),
                HasSubstr("fp16"));
    EXPECT_THAT(
        refusal({.m = 8, .n = 8, .k = 8, .operand = Type::fp8_e4m3fn, .output = Type::bf16}),
        HasSubstr("fp8_e4m3fn"));
    EXPECT_THAT(refusal({.m = 8, .n = 8, .k = 8, .operand = Type::int8, .output = Type::fp32}),
                HasSubstr("int8"));
    EXPECT_THROW((void)matmul.prepare({.m = 0, .n = 8, .k = 8}), UsageError);
}

// In a fresh process: in this one the library may be open already.
TEST(CpuMatmul, AMissingLibraryIsAReasonWithTheLoadersWords) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            setenv("ASSAY_LIB_DNNL", "/nowhere/libdnnl.so.2", 1);
            try {
                CpuDevice device;
                (void)device.need<ops::Matmul>().prepare({.m = 8, .n = 8, .k = 8});
            } catch (const Unsupported& error) {
                std::fprintf(stderr, "%s\n%s\n", error.what(), error.hint().c_str());
                std::exit(0);
            }
            std::exit(1);
        },
        testing::ExitedWithCode(0),
        "can't open /nowhere/libdnnl.so.2: .*No such file.*\n.*ASSAY_LIB_DNNL");
}

}  // namespace
}  // namespace assay::cpu
