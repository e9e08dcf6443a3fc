#include "probes/transfer_check.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "probes/places.h"

namespace assay::probes {

namespace {

using Word = std::uint32_t;
constexpr std::uint64_t kChunkWords = std::uint64_t{1} << 20;

// Word `index` of copy number `copy`: an odd step visits every value before it repeats, 16 GiB
// later, so that what is moved to another place shows.
Word source_word(Word salt, std::size_t copy, std::uint64_t index) {
    constexpr Word kStep = 0x9e3779b1U, kOther = 0x85ebca77U;
    return salt + static_cast<Word>(index) * kStep + static_cast<Word>(copy) * kOther;
}

void put(device::Device& device, void* end, bool on_host, std::uint64_t index, const Word* words,
         std::uint64_t count) {
    auto* to = static_cast<Word*>(end) + index;
    if (on_host) {
        std::memcpy(to, words, count * sizeof(Word));
    } else {
        device.copy_in(to, words, count * sizeof(Word));
    }
}

Word get(device::Device& device, const void* end, bool on_host, std::uint64_t index) {
    const auto* from = static_cast<const Word*>(end) + index;
    Word word = 0;
    if (on_host) {
        std::memcpy(&word, from, sizeof word);
    } else {
        device.copy_out(&word, from, sizeof word);
    }
    return word;
}

}  // namespace

TransferCheck::TransferCheck(device::Device& device, ops::PreparedTransfer& transfer,
                             std::uint64_t bytes, std::uint64_t seed)
    : device_(device),
      ends_(transfer.ends()),
      words_(bytes / sizeof(Word)),
      salt_(static_cast<Word>(seed)) {
    std::vector<Word> source(std::min(kChunkWords, words_)), poisoned(source.size());
    for (std::size_t copy = 0; copy < ends_.size(); ++copy) {
        const auto& ends = ends_[copy];
        for (std::uint64_t first = 0; first < words_; first += kChunkWords) {
            const auto count = std::min(kChunkWords, words_ - first);
            for (std::uint64_t i = 0; i < count; ++i) {
                source[i] = source_word(salt_, copy, first + i);
                poisoned[i] = ~source[i];
            }
            put(device_, ends.from, ends.from_host, first, source.data(), count);
            put(device_, ends.to, ends.to_host, first, poisoned.data(), count);
        }
    }
}

void TransferCheck::poison() {
    for (std::size_t copy = 0; copy < ends_.size(); ++copy) {
        for (const auto index : places(words_)) {
            const Word word = ~source_word(salt_, copy, index);
            put(device_, ends_[copy].to, ends_[copy].to_host, index, &word, 1);
        }
    }
}

record::Check TransferCheck::compare(std::string name) const {
    for (std::size_t copy = 0; copy < ends_.size(); ++copy) {
        for (const auto index : places(words_)) {
            const Word got = get(device_, ends_[copy].to, ends_[copy].to_host, index);
            const Word want = source_word(salt_, copy, index);
            if (got == want) continue;
            return {std::move(name), false,
                    fmt::format("word {} of {}, copy {}, is {:08x}, expected {:08x}", index, words_,
                                copy + 1, got, want)};
        }
    }
    return {std::move(name), true,
            fmt::format("{} words of {} as in the source", std::min(kMostPlaces, words_),
                        ends_.size() == 1 ? "the destination" : "each destination")};
}

}  // namespace assay::probes
