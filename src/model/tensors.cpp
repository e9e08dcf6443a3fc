#include "model/tensors.h"

#include <fmt/format.h>

namespace assay::model {

Tensor& Tensors::add(Tensor tensor) {
    tensor.name = prefix_ + tensor.name;
    tensor.part = part_;
    to_.push_back(std::move(tensor));
    return to_.back();
}

void Tensors::by_output(std::string_view name, std::int64_t out, std::int64_t in,
                        std::int64_t units, bool bias) {
    if (bias) this->bias(name, out, Split::output, units);
    add({.name = fmt::format("{}.weight", name),
         .shape = {out, in},
         .split = Split::output,
         .units = units});
}

void Tensors::by_input(std::string_view name, std::int64_t out, std::int64_t in, std::int64_t units,
                       bool bias) {
    if (bias) this->bias(name, out, Split::replicated, 0);
    add({.name = fmt::format("{}.weight", name),
         .shape = {out, in},
         .split = Split::input,
         .units = units});
}

void Tensors::whole(std::string_view name, std::int64_t out, std::int64_t in, bool bias) {
    if (bias) this->bias(name, out, Split::replicated, 0);
    add({.name = fmt::format("{}.weight", name), .shape = {out, in}});
}

void Tensors::norm(std::string_view name, std::int64_t width, bool bias) {
    const auto part = part_;
    part_ = Part::norms;
    if (bias) {
        add({.name = fmt::format("{}.bias", name), .shape = {width}, .role = Role::bias});
    }
    add({.name = fmt::format("{}.weight", name), .shape = {width}, .role = Role::norm});
    part_ = part;
}

void Tensors::vector(std::string_view name, std::int64_t width, std::int64_t units) {
    add({.name = std::string(name),
         .shape = {width},
         .role = Role::vector,
         .split = units > 0 ? Split::output : Split::replicated,
         .units = units});
}

void Tensors::bias(std::string_view name, std::int64_t width, Split split, std::int64_t units) {
    add({.name = fmt::format("{}.bias", name),
         .shape = {width},
         .role = Role::bias,
         .split = split,
         .units = units});
}

Tensors Tensors::within(std::string_view name, Part part) const {
    return {to_, prefix_ + std::string(name), part};
}

}  // namespace assay::model
