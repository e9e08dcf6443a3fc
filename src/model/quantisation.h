// How a checkpoint stores its tensors: the bits of an element, and the scales beside them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/name_pattern.h"
#include "model/transformer.h"

namespace assay::model {

// Numbers beside a matrix, one for each block of it.
struct Scale {
    std::int64_t rows = 0, columns = 0;  // of the block: outputs, inputs; 0: the whole matrix's
    double bits = 32;
    bool flat = false;  // blocks of `columns` elements of the matrix written as one line
};

struct Format {
    std::string name;  // "bf16", "fp8 128x128", "mxfp4"
    double bits = 16;  // of an element
    std::vector<Scale> scales = {};
};

struct Rule {
    Format format;
    std::vector<NamePattern> targets = {};  // empty: every tensor that can be quantised
};

struct Quantisation {
    std::string name;  // "bf16", "fp8", "compressed-tensors mxfp4"
    Format plain;      // of what no rule takes
    std::vector<Rule> rules = {};
    std::vector<NamePattern> ignored = {};
    bool head = false;  // the rules reach the head
};

struct StoredBytes {
    double elements = 0, scales = 0;
    double total() const { return elements + scales; }
};

// Embeddings, norms, biases, vectors, convolutions and routers are never quantised; the head and
// tensors that keep their type as said.
const Format& format_of(const Quantisation& storage, const Tensor& tensor);
// Of all copies; nothing for a tied tensor.
StoredBytes stored(const Quantisation& storage, const Tensor& tensor);
double stored_bytes(const Quantisation& storage, const Tensor& tensor);
// In the plain type: quantised checkpoints leave it as it is. Nothing for what tensors hold.
double stored_bytes(const Quantisation& storage, const Extra& extra);
double bits_per_weight(const Quantisation& storage, const Tensor& tensor);  // with its scales
// Numbers that a checkpoint's count includes beside the parameters: the scales of all copies.
std::int64_t scale_elements(const Quantisation& storage, const Tensor& tensor);

// Weights of a type that the user names: fp32 fp16 bf16 fp8 int8 int4 mxfp4 nvfp4, and fp8_block
// (128x128). Types under 16 bits are of the projections; the rest is bf16. Throws UsageError.
Quantisation storage_named(std::string_view name);
// The format of one of those, and "float32" and its kin of a config's dtype.
Format format_named(std::string_view name);
bool is_plain_type(std::string_view name);

// Bytes of the whole model as its tensors stand: the language model, the layers that predict
// further tokens, and what no tensor stands for.
struct WeightBytes {
    double main = 0, predictors = 0, extras = 0;
    double total() const { return main + predictors + extras; }
};
WeightBytes weight_bytes(const Transformer& shape, const Quantisation& storage);

}  // namespace assay::model
