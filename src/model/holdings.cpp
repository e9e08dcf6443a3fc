#include "model/holdings.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace assay::model {

namespace {

bool is_routed(const Tensor& tensor) {
    return tensor.part == Part::experts && tensor.copies > 1;
}

Piece piece_of(const Tensor& tensor, const BytesOfTensor& stored) {
    Piece piece;
    piece.part = tensor.part;
    piece.parameters = static_cast<double>(tensor.parameters());
    piece.bytes = stored(tensor);
    const bool split = tensor.split != Split::replicated && !tensor.shape.empty();
    if (split) {
        piece.units = tensor.units > 0               ? tensor.units
                      : tensor.split == Split::input ? tensor.shape.back()
                                                     : tensor.shape.front();
    }
    if (is_routed(tensor)) {
        piece.divided = Piece::Divided::by_expert;
        piece.copies = tensor.copies;
    } else if (split) {
        piece.divided = Piece::Divided::by_tensor;
    }
    return piece;
}

void add(std::vector<Piece>& pieces, const Piece& piece) {
    const auto alike = std::ranges::find_if(pieces, [&](const Piece& other) {
        return other.part == piece.part && other.divided == piece.divided &&
               other.units == piece.units && other.copies == piece.copies;
    });
    if (alike == pieces.end()) {
        pieces.push_back(piece);
    } else {
        alike->parameters += piece.parameters;
        alike->bytes += piece.bytes;
    }
}

// A projection's output is kept, and where it is split along its inputs, what it reads is too (the
// attention's or non-linearity's output): its own result is added to the residual stream.
void add_produced(const Tensor& tensor, HeldLayer& layer) {
    if (tensor.role != Role::projection || tensor.shape.size() < 2) return;
    auto& produced = tensor.part == Part::attention ? layer.mixing : layer.feeding;
    const double used = std::min(tensor.used, static_cast<double>(tensor.copies));
    const auto rows = static_cast<double>(tensor.shape.front()) * used;
    const auto columns = static_cast<double>(tensor.shape.back()) * used;
    if (tensor.split == Split::input) {
        produced.divided += columns;
        if (tensor.part != Part::attention) produced.activation += columns;
    } else if (tensor.split == Split::output) {
        produced.divided += rows;
    } else {
        produced.whole += rows;
    }
}

HeldLayer held(const Layer& layer, const BytesOfTensor& stored) {
    HeldLayer result;
    result.mixer = layer.mixer;
    if (layer.mixer.kind != Mixer::Kind::none) ++result.sublayers;
    const auto& ff = layer.feed_forward;
    if (ff.kind != FeedForward::Kind::none) ++result.sublayers;
    for (const auto& tensor : layer.tensors) {
        add(result.pieces, piece_of(tensor, stored));
        add_produced(tensor, result);
    }
    if (ff.kind == FeedForward::Kind::experts) {
        result.feeding.routed = static_cast<double>(ff.top_k * ff.input_width);
    }
    return result;
}

template <class Use>
void for_each_piece(const Holdings& holdings, Use use) {
    for (const auto& piece : holdings.input) use(piece);
    for (const auto* layers : {&holdings.layers, &holdings.predictors}) {
        for (const auto& layer : *layers) {
            for (const auto& piece : layer.pieces) use(piece);
        }
    }
    for (const auto& piece : holdings.output) use(piece);
}

}  // namespace

double Holdings::parameters() const {
    double sum = 0;
    for_each_piece(*this, [&](const Piece& piece) { sum += piece.parameters; });
    return sum;
}

double Holdings::bytes() const {
    double sum = beside;
    for_each_piece(*this, [&](const Piece& piece) { sum += piece.bytes; });
    return sum;
}

Holdings holdings_of(const Transformer& transformer, const BytesOfTensor& stored, bool predictors) {
    Holdings result;
    result.hidden = transformer.hidden;
    result.vocabulary = transformer.vocabulary;
    for (const auto& tensor : transformer.input) add(result.input, piece_of(tensor, stored));
    for (const auto& layer : transformer.layers) result.layers.push_back(held(layer, stored));
    if (predictors) {
        for (const auto& layer : transformer.predictors) {
            result.predictors.push_back(held(layer, stored));
        }
    }
    for (const auto& tensor : transformer.output) {
        if (tensor.tied) {
            auto copy = tensor;
            copy.tied = false;
            add(result.tied, piece_of(copy, stored));
        } else {
            add(result.output, piece_of(tensor, stored));
        }
    }
    return result;
}

Holdings holdings_of(const Model& model, bool predictors, bool text_only) {
    const auto& [shape, storage] = model;
    const auto stored = [&](const Tensor& tensor) { return stored_bytes(storage, tensor); };
    auto result = holdings_of(shape, stored, predictors);
    if (!predictors && !shape.predictors.empty()) {
        std::int64_t parameters = 0;
        for (const auto& layer : shape.predictors) {
            for (const auto& tensor : layer.tensors) parameters += tensor.parameters();
        }
        const auto layers = shape.predictors.size();
        result.left_out.push_back(fmt::format("{} layer{} of multi-token prediction, {} parameters",
                                              layers, layers == 1 ? "" : "s", parameters));
    }
    for (const auto& extra : shape.extras) {
        if (extra.in_tensors || extra.stored_again) continue;
        if (text_only && extra.tower) {
            result.left_out.push_back(
                fmt::format("{}, {} parameters", extra.what, extra.parameters));
        } else {
            result.beside += stored_bytes(storage, extra);
        }
    }
    return result;
}

}  // namespace assay::model
