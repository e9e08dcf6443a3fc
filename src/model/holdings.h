// A transformer as the memory planner sees it: tensors that every layout divides alike are one
// piece, so that many layouts can be tried within milliseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/transformer.h"

namespace assay::model {

// Of a whole tensor, all copies; 0 when tied.
using BytesOfTensor = std::function<double(const Tensor&)>;

struct Piece {
    enum class Divided { not_at_all, by_tensor, by_expert };

    Part part = Part::attention;
    Divided divided = Divided::not_at_all;
    std::int64_t units = 0;   // along the split dimension; 0: it isn't split
    std::int64_t copies = 1;  // experts, spread by `expert`
    double parameters = 0;
    double bytes = 0;  // as the checkpoint stores it
};

// Elements that one token makes in a part of a layer, at full width.
struct Produced {
    double divided = 0;     // by `tensor`
    double whole = 0;       // on every rank
    double activation = 0;  // of `divided`: the non-linearity's output, cheap to make again
    double routed = 0;      // inputs of the experts that a token goes to, divided by `expert`
};

struct HeldLayer {
    std::vector<Piece> pieces;
    Mixer mixer;
    int sublayers = 0;  // each has a residual input and a norm
    Produced mixing, feeding;
};

struct Holdings {
    std::int64_t hidden = 0, vocabulary = 0;
    std::vector<Piece> input;
    std::vector<HeldLayer> layers;
    std::vector<HeldLayer> predictors;  // with the last stage
    std::vector<Piece> output;
    // A head tied to the embedding: the last of several stages holds a copy.
    std::vector<Piece> tied;
    double beside = 0;  // bytes of what no tensor stands for (a vision tower, tables of routing),
                        // on every rank of the first stage
    // What the model has but isn't held: "multi-token prediction: 11,610,068,224 parameters".
    std::vector<std::string> left_out;

    double parameters() const;  // of all but `tied`
    double bytes() const;
};

// Without `beside`. `predictors`: hold the multi-token-prediction layers too.
Holdings holdings_of(const Transformer& transformer, const BytesOfTensor& stored, bool predictors);
// As its checkpoint stores it. `text_only`: without towers for other input than text.
Holdings holdings_of(const Model& model, bool predictors, bool text_only);

}  // namespace assay::model
