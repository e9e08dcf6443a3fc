// Makes the tensors of a layer, named as in a Hugging Face checkpoint: "PREFIX.NAME.weight".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/transformer.h"

namespace assay::model {

// A part of a layer and the name its tensors begin with: {layer, "model.layers.0.self_attn.", ...}.
// Whether a projection has a bias goes with it: a bias is cut as its outputs are.
class Tensors {
  public:
    Tensors(std::vector<Tensor>& to, std::string prefix, Part part)
        : to_(to), prefix_(std::move(prefix)), part_(part) {}

    // Outputs divided over the ranks in whole `units`.
    void by_output(std::string_view name, std::int64_t out, std::int64_t in, std::int64_t units = 0,
                   bool bias = false);
    // Inputs divided; a bias is then whole on every rank.
    void by_input(std::string_view name, std::int64_t out, std::int64_t in, std::int64_t units = 0,
                  bool bias = false);
    // Whole on every rank.
    void whole(std::string_view name, std::int64_t out, std::int64_t in, bool bias = false);
    void norm(std::string_view name, std::int64_t width, bool bias = false);
    // One value a head, or `width` of them; divided where it has units.
    void vector(std::string_view name, std::int64_t width, std::int64_t units = 0);
    void bias(std::string_view name, std::int64_t width, Split split, std::int64_t units);
    // As made: what the above don't know.
    Tensor& add(Tensor tensor);

    Tensors within(std::string_view name, Part part) const;
    Tensors within(std::string_view name) const { return within(name, part_); }
    Tensor& last() { return to_.back(); }

  private:
    std::vector<Tensor>& to_;
    std::string prefix_;
    Part part_;
};

}  // namespace assay::model
