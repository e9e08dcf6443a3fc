// A jump from one fiber's stack to another's isn't the mistake that the fortified longjmp takes it
// for.
#undef _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 0

#include "warp_emulator.h"

#include <cmath>
#include <csetjmp>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <ucontext.h>

#include "base/error.h"
#include "work/number_format.h"

namespace assay::cuda {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr int kWords = 12;  // that a lane holds out at most: 8 elements of A, 4 of B

struct Copy {
    std::uint32_t to;
    const void* from;
    std::size_t bytes;
    bool exists;
};

enum class State { ready, at_warp, at_block, done };

struct Fiber {
    ucontext_t context{};
    std::jmp_buf place{};
    bool started = false;
    State state = State::ready;
    std::vector<char> stack = std::vector<char>(kStackBytes);
    std::vector<Copy> open;                // copies of the group that isn't closed
    std::deque<std::vector<Copy>> groups;  // closed, not come
};

// What lanes hold out for each other; two in turn, so that a lane may be one word ahead.
struct Exchange {
    int arrived = 0;
    unsigned turn = 0;
    std::uint32_t words[2][kWarp][kWords] = {};
};

class Block {
  public:
    Block(int threads, unsigned shared_bytes, const Emulation& how,
          const std::function<void(const Thread&)>& kernel)
        : how_(how), kernel_(kernel), shared_(shared_bytes) {
        for (int i = 0; i < threads; ++i) fibers_.push_back(std::make_unique<Fiber>());
        warps_.resize(static_cast<std::size_t>(threads / kWarp));
    }

    void run(int number) {
        number_ = number;
        // Each float and each half of one reads as NaN.
        std::memset(shared_.data(), 0xFF, shared_.size());
        for (auto& fiber : fibers_) {
            fiber->started = false;
            fiber->state = State::ready;
            fiber->open.clear();
            fiber->groups.clear();
        }
        for (auto& warp : warps_) warp = {};
        at_barrier_ = 0;
        while (advance()) {
        }
        for (const auto& fiber : fibers_) {
            if (fiber->state != State::done) throw Error("threads part at a barrier");
        }
        if (!error_.empty()) throw Error(error_);
    }

    Fiber& fiber() { return *fibers_[static_cast<std::size_t>(current_)]; }
    const Emulation& how() const { return how_; }
    int lane() const { return current_ % kWarp; }

    // Thrown when the block is done: nothing is thrown through a fiber.
    void complain(std::string what) { error_ = std::move(what); }

    // Memory of the block that a lane accesses.
    unsigned char* at(std::uint32_t offset, std::size_t bytes, std::size_t alignment) {
        if (offset % alignment != 0 || offset + bytes > shared_.size()) {
            complain("shared memory accessed at " + std::to_string(offset) + " of " +
                     std::to_string(shared_.size()));
            return shared_.data();
        }
        return shared_.data() + offset;
    }

    // All lanes' words, when all have given theirs.
    const std::uint32_t (&exchange(const std::uint32_t* words, int count))[kWarp][kWords] {
        auto& warp = warps_[static_cast<std::size_t>(current_ / kWarp)];
        const unsigned turn = warp.turn % 2;
        std::memcpy(warp.words[turn][lane()], words, static_cast<std::size_t>(count) * 4);
        if (++warp.arrived == kWarp) {
            warp.arrived = 0;
            ++warp.turn;
            for (int i = current_ / kWarp * kWarp; i < (current_ / kWarp + 1) * kWarp; ++i) {
                fibers_[static_cast<std::size_t>(i)]->state = State::ready;
            }
        } else {
            fiber().state = State::at_warp;
            leave();
        }
        return warp.words[turn];
    }

    void barrier() {
        fiber().state = State::at_block;
        ++at_barrier_;
        leave();
    }

    void enter() {
        kernel_({current_, number_});
        fiber().state = State::done;
        leave();
    }

  private:
    // Lets each warp run until all its lanes wait for the block; false when all are done or none
    // can go on.
    bool advance() {
        const int warps = static_cast<int>(warps_.size());
        bool moved = false;
        for (int i = 0; i < warps; ++i) {
            const int warp = how_.last_warp_first ? warps - 1 - i : i;
            bool any = true;
            while (any) {
                any = false;
                for (int lane = 0; lane < kWarp; ++lane) {
                    current_ = warp * kWarp + lane;
                    if (fiber().state == State::ready) {
                        resume();
                        any = moved = true;
                    }
                }
            }
        }
        if (at_barrier_ == static_cast<int>(fibers_.size())) {
            at_barrier_ = 0;
            for (auto& fiber : fibers_) fiber->state = State::ready;
            return true;
        }
        return moved;
    }

    void resume();
    void leave() {
        if (_setjmp(fiber().place) == 0) _longjmp(scheduler_, 1);
    }

    Emulation how_;
    const std::function<void(const Thread&)>& kernel_;
    std::vector<unsigned char> shared_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Exchange> warps_;
    std::jmp_buf scheduler_{};
    int current_ = 0, number_ = 0, at_barrier_ = 0;
    std::string error_;
};

Block* running = nullptr;

void enter_fiber() {
    running->enter();
}

void Block::resume() {
    auto& next = fiber();
    if (_setjmp(scheduler_) != 0) return;
    if (next.started) _longjmp(next.place, 1);
    next.started = true;
    getcontext(&next.context);
    next.context.uc_stack.ss_sp = next.stack.data();
    next.context.uc_stack.ss_size = next.stack.size();
    next.context.uc_link = nullptr;
    makecontext(&next.context, enter_fiber, 0);
    setcontext(&next.context);
}

void carry_out(const Copy& copy) {
    auto* to = running->at(copy.to, copy.bytes, copy.bytes);
    if (copy.exists) {
        std::memcpy(to, copy.from, copy.bytes);
    } else {
        std::memset(to, 0, copy.bytes);
    }
}

void copy(std::uint32_t to, const void* from, std::size_t bytes, bool exists) {
    if (exists && reinterpret_cast<std::uintptr_t>(from) % bytes != 0) {
        running->complain("a copy from an address that isn't aligned");
        return;
    }
    const Copy wanted{to, from, bytes, exists};
    if (running->how().eager_copies) {
        carry_out(wanted);
    } else {
        running->fiber().open.push_back(wanted);
    }
}

void load_matrices(std::uint32_t (&to)[4], std::uint32_t from, bool transposed) {
    const auto& named = running->exchange(&from, 1);
    const int lane = running->lane();
    for (int m = 0; m < 4; ++m) {
        std::uint16_t pair[2];
        for (int e = 0; e < 2; ++e) {
            const int along = 2 * (lane % 4) + e, across = lane / 4;
            const int row = transposed ? along : across, column = transposed ? across : along;
            const auto* chunk = running->at(named[8 * m + row][0], 16, 16);
            std::memcpy(&pair[e], chunk + 2 * column, 2);
        }
        to[m] = pair[0] | static_cast<std::uint32_t>(pair[1]) << 16;
    }
}

template <work::Type type>
constexpr work::NumberFormat kFormat = type == work::Type::bf16 ? work::kBf16 : work::kFp16;

template <work::Type type>
float value_of(std::uint32_t bits) {
    return work::bits_as<float>(work::decode<kFormat<type>>(bits & 0xFFFF));
}

}  // namespace

void emulate(std::int64_t blocks, int threads, unsigned shared_bytes, const Emulation& how,
             const std::function<void(const Thread&)>& kernel) {
    Block block(threads, shared_bytes, how, kernel);
    running = &block;
    for (std::int64_t i = 0; i < blocks; ++i) block.run(static_cast<int>(i));
    running = nullptr;
}

namespace lane {

std::uint32_t shared_base() {
    return 0;
}
void barrier() {
    running->barrier();
}
void copy_async(std::uint32_t to, const void* from, bool exists) {
    copy(to, from, 16, exists);
}
void copy_word_async(std::uint32_t to, const void* from, bool exists) {
    copy(to, from, 4, exists);
}
void close_group() {
    auto& fiber = running->fiber();
    fiber.groups.push_back(std::move(fiber.open));
    fiber.open.clear();
}
void wait_groups(int left) {
    auto& groups = running->fiber().groups;
    for (; static_cast<int>(groups.size()) > left; groups.pop_front()) {
        for (const auto& copy : groups.front()) carry_out(copy);
    }
}

void store_shared(std::uint32_t to, std::uint32_t value) {
    std::memcpy(running->at(to, 4, 4), &value, 4);
}
void store_shared(std::uint32_t to, float value) {
    std::memcpy(running->at(to, 4, 4), &value, 4);
}
void store_shared(std::uint32_t to, const std::uint32_t (&values)[4]) {
    std::memcpy(running->at(to, 16, 16), values, 16);
}
float load_shared(std::uint32_t from) {
    float value;
    std::memcpy(&value, running->at(from, 4, 4), 4);
    return value;
}
void load_shared(float (&to)[2], std::uint32_t from) {
    std::memcpy(to, running->at(from, 8, 8), 8);
}
void load_matrices(std::uint32_t (&to)[4], std::uint32_t from) {
    cuda::load_matrices(to, from, false);
}
void load_transposed(std::uint32_t (&to)[4], std::uint32_t from) {
    cuda::load_matrices(to, from, true);
}

template <work::Type type>
void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
    // Widened by their holders, once.
    std::uint32_t own[kWords];
    for (int i = 0; i < kWords; ++i) {
        const std::uint32_t reg = i < 8 ? a[i / 2] : i < 10 ? b0 : b1;
        own[i] = work::bits_as<std::uint32_t>(value_of<type>(reg >> 16 * (i % 2)));
    }
    const auto& all = running->exchange(own, kWords);
    for (int i = 0; i < 4; ++i) {
        const auto place = sum_place(running->lane(), i);
        // The lanes that hold the row and the column of this sum.
        for (int holder = 0; holder < 4; ++holder) {
            const auto& left = all[4 * (place.row % 8) + holder];
            const auto& right = all[4 * place.column + holder];
            for (int half = 0; half < 2; ++half) {
                for (int e = 0; e < 2; ++e) {
                    c[i] += work::bits_as<float>(left[2 * (place.row / 8 + 2 * half) + e]) *
                            work::bits_as<float>(right[8 + 2 * half + e]);
                }
            }
        }
    }
}
template void multiply<work::Type::bf16>(float (&)[4], const std::uint32_t (&)[4], std::uint32_t,
                                         std::uint32_t);
template void multiply<work::Type::fp16>(float (&)[4], const std::uint32_t (&)[4], std::uint32_t,
                                         std::uint32_t);

float shuffle_xor(float value, int mask) {
    const auto bits = work::bits_as<std::uint32_t>(value);
    const auto& all = running->exchange(&bits, 1);
    return work::bits_as<float>(all[running->lane() ^ mask][0]);
}

template <work::Type type>
std::uint32_t pack(float low, float high) {
    const auto code = [](float value) {
        return work::encode<kFormat<type>>(work::bits_as<std::uint32_t>(value));
    };
    return code(low) | code(high) << 16;
}
template std::uint32_t pack<work::Type::bf16>(float, float);
template std::uint32_t pack<work::Type::fp16>(float, float);
template <work::Type type>
float to_float(std::uint16_t bits) {
    return value_of<type>(bits);
}
template float to_float<work::Type::bf16>(std::uint16_t);
template float to_float<work::Type::fp16>(std::uint16_t);

float fast_exp2(float x) {
    return exp2f(x);
}
float fast_divide(float a, float b) {
    return a / b;
}
void add_global(float* to, float value) {
    *to += value;
}
void add_global(float* to, float first, float second) {
    if (reinterpret_cast<std::uintptr_t>(to) % 8 != 0)
        running->complain("a sum that isn't aligned");
    to[0] += first;
    to[1] += second;
}

}  // namespace lane
}  // namespace assay::cuda
