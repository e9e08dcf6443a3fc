#include "cuda/cudnn/attention_graph.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "ops/attention.h"

namespace assay::cuda {

namespace {

using work::AttentionTensor;

TensorId operator+(AttentionId id, AttentionTensor tensor) {
    return static_cast<TensorId>(id) + static_cast<TensorId>(tensor);
}

// Which keys a query sees: from `left` keys before the one it stands at (that one counted) to
// `right` keys behind it. Only bounds that hide a key are set.
struct Band {
    std::optional<std::int64_t> left, right;
    bool moved = false;  // the last query stands at the last key, and the first not at the first
};

Band band_of(const work::Attention& p, const CudnnEntries& entries) {
    const auto& mask = p.mask;
    Band band;
    band.moved = mask.alignment == work::Alignment::bottom_right && entries.lengths_differ();
    const auto last = band.moved ? entries.keys : entries.queries;
    if (mask.window > 0 && mask.window < last) band.left = mask.window;
    if (mask.causal) {
        band.right = 0;
    } else if (mask.window > 0 && mask.window < entries.keys) {
        band.right = mask.window - 1;
    }
    band.moved = band.moved && (band.left || band.right);
    return band;
}

class Builder {
  public:
    Builder(const work::Attention& problem, const CudnnEntries& entries, ScratchSize scratch)
        : p_(problem),
          entries_(entries),
          scratch_(scratch),
          type_(problem.type == work::Type::fp16 ? GraphElement::fp16 : GraphElement::bf16) {
        add_tables();
    }

    CudnnGraph forward();
    CudnnGraph backward();

  private:
    std::int64_t heads() const { return p_.heads; }
    std::int64_t group() const { return p_.heads / p_.kv_heads; }
    Extents compact(std::int64_t heads, std::int64_t rows, std::int64_t width) const {
        return {heads * rows * width, rows * width, width, 1};
    }
    Extents score_dims() const {
        return {entries_.count, heads(), entries_.queries, entries_.keys};
    }
    Extents row_dims() const { return {entries_.count, heads(), entries_.queries, 1}; }
    Extents row_strides() const { return compact(heads(), entries_.queries, 1); }

    void add_tables();
    TensorId table(TensorId id, const char* name, GraphElement element, std::int64_t count);
    TensorId offsets(AttentionTensor tensor) const {
        return entries_.has_offsets(tensor) ? id_offsets + tensor : 0;
    }
    Extents strides(AttentionTensor tensor) const;
    Extents dims(AttentionTensor tensor) const;
    TensorId operand(TensorId id, const char* name, AttentionTensor tensor);
    // Keys or values with rows and elements exchanged.
    TensorId turned_operand(TensorId id, const char* name, AttentionTensor tensor);

    TensorId inner(GraphElement element, Extents dims, Extents strides) {
        return graph_.add({.element = element, .dims = dims, .strides = strides});
    }
    TensorId inner_scores() {
        return inner(GraphElement::fp32, score_dims(),
                     compact(heads(), entries_.queries, entries_.keys));
    }
    TensorId inner_rows() { return inner(GraphElement::fp32, row_dims(), row_strides()); }
    // Of the first input's shape, fp32.
    TensorId pointwise(GraphStep step, std::vector<TensorId> inputs);
    TensorId compare(GraphStep step, TensorId first, TensorId second);
    TensorId index(TensorId scores, GraphStep step, GraphElement compute);
    TensorId move(GraphStep step, TensorId index, TensorId by, GraphElement element);
    TensorId hide(TensorId scores, TensorId seen);
    TensorId mask_padding(TensorId scores);
    TensorId mask_band(TensorId scores);
    TensorId mask_right(TensorId scores);
    TensorId mask_left(TensorId scores);
    TensorId matmul(TensorId a, TensorId b, TensorId into, TensorId rows, TensorId columns,
                    TensorId inner);

    // Backward.
    bool by_token() const { return scratch_ == ScratchSize::by_token; }
    std::uint64_t scratch_elements(AttentionTensor like, std::int64_t heads,
                                   std::int64_t factor) const;
    TensorId add_delta(TensorId o, TensorId d_o);
    TensorId add_probabilities(TensorId q, TensorId k, TensorId lse, TensorId scale);
    // d_k or d_v: turned scores times rows of queries, added up over the heads of a group.
    void add_key_gradient(TensorId scores, TensorId rows, TensorId into, AttentionTensor tensor,
                          TensorId heads_id);
    void add_query_gradient(TensorId scores, TensorId k, TensorId into);

    const work::Attention& p_;
    const CudnnEntries& entries_;
    ScratchSize scratch_;
    GraphElement type_;
    CudnnGraph graph_;
    TensorId query_lengths_ = 0, key_lengths_ = 0;
};

TensorId Builder::table(TensorId id, const char* name, GraphElement element, std::int64_t count) {
    return graph_.add({.id = id,
                       .name = name,
                       .element = element,
                       .place = GraphPlace::table,
                       .dims = {count, 1, 1, 1}});
}

void Builder::add_tables() {
    if (!entries_.has_lengths()) return;
    query_lengths_ = table(id_query_lengths, "query lengths", GraphElement::int32, entries_.count);
    key_lengths_ = table(id_key_lengths, "key lengths", GraphElement::int32, entries_.count);
    constexpr std::pair<AttentionTensor, const char*> kOffsets[] = {
        {AttentionTensor::q, "offsets of q"},
        {AttentionTensor::k, "offsets of k"},
        {AttentionTensor::v, "offsets of v"},
        {AttentionTensor::o, "offsets of o"},
        {AttentionTensor::lse, "offsets of lse"}};
    for (const auto& [tensor, name] : kOffsets) {
        if (const auto id = offsets(tensor); id != 0) {
            table(id, name, GraphElement::int64, entries_.count + 1);
        }
    }
}

Extents Builder::strides(AttentionTensor tensor) const {
    const auto s = cudnn_strides(p_, entries_, tensor);
    return {s.batch, s.head, s.row, 1};
}

Extents Builder::dims(AttentionTensor tensor) const {
    return {entries_.count, work::heads_of(p_, tensor),
            work::is_of_queries(tensor) ? entries_.queries : entries_.keys,
            work::width_of(p_, tensor)};
}

TensorId Builder::operand(TensorId id, const char* name, AttentionTensor tensor) {
    return graph_.add({.id = id,
                       .name = name,
                       .element = tensor == AttentionTensor::lse ? GraphElement::fp32 : type_,
                       .place = GraphPlace::operand,
                       .dims = dims(tensor),
                       .strides = strides(tensor),
                       .offsets = offsets(tensor)});
}

TensorId Builder::turned_operand(TensorId id, const char* name, AttentionTensor tensor) {
    operand(id, name, tensor);
    auto& made = graph_.tensors.back();
    std::swap(made.dims[2], made.dims[3]);
    std::swap(made.strides[2], made.strides[3]);
    return id;
}

TensorId Builder::pointwise(GraphStep step, std::vector<TensorId> inputs) {
    const auto output = graph_.inner_like(inputs.front(), GraphElement::fp32);
    return graph_.node(step, std::move(inputs), output);
}

TensorId Builder::compare(GraphStep step, TensorId first, TensorId second) {
    const auto output = graph_.inner_like(first, GraphElement::boolean);
    return graph_.node(step, {first, second}, output, GraphElement::boolean);
}

TensorId Builder::index(TensorId scores, GraphStep step, GraphElement compute) {
    const auto output = graph_.inner_like(scores, GraphElement::int32);
    return graph_.node(step, {scores}, output, compute);
}

TensorId Builder::move(GraphStep step, TensorId index, TensorId by, GraphElement element) {
    const auto output = graph_.inner_like(index, element);
    return graph_.node(step, {index, by}, output, element);
}

TensorId Builder::hide(TensorId scores, TensorId seen) {
    const auto nothing = graph_.constant(-std::numeric_limits<double>::infinity());
    return pointwise(GraphStep::select, {scores, nothing, seen});
}

TensorId Builder::mask_padding(TensorId scores) {
    if (!entries_.has_lengths()) return scores;
    const auto row = index(scores, GraphStep::row_index, GraphElement::int32);
    const auto column = index(scores, GraphStep::column_index, GraphElement::int32);
    const auto has_row = compare(GraphStep::less, row, query_lengths_);
    const auto has_column = compare(GraphStep::less, column, key_lengths_);
    return hide(scores, compare(GraphStep::logical_and, has_row, has_column));
}

TensorId Builder::mask_band(TensorId scores) {
    const auto band = band_of(p_, entries_);
    if (band.right) scores = mask_right(scores);
    if (band.left) scores = mask_left(scores);
    return scores;
}

// Sees the key where row (+ keys - queries) (+ right) >= column.
TensorId Builder::mask_right(TensorId scores) {
    const auto band = band_of(p_, entries_);
    auto row = index(scores, GraphStep::row_index, GraphElement::fp32);
    const auto column = index(scores, GraphStep::column_index, GraphElement::fp32);
    const auto whole = GraphElement::int32;
    if (band.moved) {
        const bool each = entries_.has_lengths();
        const auto keys =
            each ? key_lengths_ : graph_.constant(static_cast<double>(entries_.keys), whole);
        const auto queries =
            each ? query_lengths_ : graph_.constant(static_cast<double>(entries_.queries), whole);
        row = move(GraphStep::add, row, keys, whole);
        row = move(GraphStep::subtract, row, queries, whole);
    }
    if (*band.right != 0) {
        const auto right = graph_.constant(static_cast<double>(*band.right), whole);
        row = move(GraphStep::add, row, right, whole);
    }
    return hide(scores, compare(GraphStep::greater_equal, row, column));
}

// Sees the key where column + left (- keys + queries) > row.
TensorId Builder::mask_left(TensorId scores) {
    const auto band = band_of(p_, entries_);
    const auto row = index(scores, GraphStep::row_index, GraphElement::fp32);
    auto column = index(scores, GraphStep::column_index, GraphElement::fp32);
    const auto whole = GraphElement::int32;
    if (band.moved && entries_.has_lengths()) {
        const auto left = graph_.constant(static_cast<double>(*band.left), whole);
        column = move(GraphStep::add, column, left, whole);
        column = move(GraphStep::subtract, column, key_lengths_, whole);
        column = move(GraphStep::add, column, query_lengths_, whole);
    } else {
        const auto left = *band.left + (band.moved ? entries_.queries - entries_.keys : 0);
        const auto number = graph_.constant(static_cast<double>(left));
        column = move(GraphStep::add, column, number, GraphElement::fp32);
    }
    return hide(scores, compare(GraphStep::greater, column, row));
}

TensorId Builder::matmul(TensorId a, TensorId b, TensorId into, TensorId rows, TensorId columns,
                         TensorId inner) {
    graph_.node(GraphStep::matmul, {a, b}, into);
    auto& node = graph_.nodes.back();
    node.rows = rows;
    node.columns = columns;
    node.inner = inner;
    return into;
}

CudnnGraph Builder::forward() {
    const auto q = operand(id_q, "q", AttentionTensor::q);
    const auto k = turned_operand(id_k, "k", AttentionTensor::k);
    const auto v = operand(id_v, "v", AttentionTensor::v);
    const auto o = operand(id_o, "o", AttentionTensor::o);
    const auto lse = operand(id_lse, "lse", AttentionTensor::lse);

    auto scores = matmul(q, k, inner_scores(), query_lengths_, key_lengths_, 0);
    scores = pointwise(GraphStep::multiply, {scores, graph_.constant(work::scale_of(p_))});
    scores = mask_band(mask_padding(scores));

    const auto most = graph_.node(GraphStep::maximum, {scores}, inner_rows());
    const auto weights =
        pointwise(GraphStep::exp, {pointwise(GraphStep::subtract, {scores, most})});
    const auto sum = graph_.node(GraphStep::sum, {weights}, inner_rows());
    graph_.node(GraphStep::add, {most, pointwise(GraphStep::log, {sum})}, lse);

    // Of the problem's type: what the second product reads.
    const auto shares = graph_.inner_like(scores, type_);
    graph_.node(GraphStep::divide, {weights, sum}, shares);
    matmul(shares, v, o, query_lengths_, 0, key_lengths_);
    return std::move(graph_);
}

// Elements from the first to the last that a kernel may touch, of a tensor that lies as `like`,
// with `heads` heads and offsets and rows `factor` times as far apart.
std::uint64_t Builder::scratch_elements(AttentionTensor like, std::int64_t heads,
                                        std::int64_t factor) const {
    const auto s = cudnn_strides(p_, entries_, like);
    const auto& offsets = entries_.offsets_of(like);
    std::int64_t end = 0;
    for (std::int64_t entry = 0; entry < entries_.count; ++entry) {
        const auto rows =
            work::is_of_queries(like) ? entries_.queries_of(entry) : entries_.keys_of(entry);
        end = std::max(end, offsets[static_cast<std::size_t>(entry)] + rows * s.row);
    }
    return static_cast<std::uint64_t>((end + ops::kSpareRows * s.row) * factor +
                                      (heads - 1) * s.head + work::width_of(p_, like));
}

TensorId Builder::add_delta(TensorId o, TensorId d_o) {
    const auto width = p_.value_dim;
    const auto rows = entries_.queries;
    const auto products = inner(GraphElement::fp32, {entries_.count, heads(), rows, width},
                                {heads() * rows * width, rows * width, heads() * width, 1});
    graph_.node(GraphStep::multiply, {d_o, o}, products);
    const auto sums = graph_.node(GraphStep::sum, {products}, inner_rows());
    const bool like_lse = by_token() && entries_.has_offsets(AttentionTensor::lse);
    const auto elements = like_lse ? scratch_elements(AttentionTensor::lse, heads(), 1)
                                   : static_cast<std::uint64_t>(entries_.count * heads() * rows);
    const auto delta =
        graph_.add({.id = id_delta,
                    .name = "delta",
                    .place = GraphPlace::scratch,
                    .dims = row_dims(),
                    .strides = like_lse ? strides(AttentionTensor::lse) : row_strides(),
                    .offsets = like_lse ? offsets(AttentionTensor::lse) : 0,
                    .bytes = elements * sizeof(float)});
    // Without this product of nothing the kernels that need no score matrix in memory don't apply.
    return graph_.node(GraphStep::multiply, {sums, graph_.constant(1)}, delta);
}

TensorId Builder::add_probabilities(TensorId q, TensorId k, TensorId lse, TensorId scale) {
    auto scores = matmul(q, k, inner_scores(), query_lengths_, key_lengths_, 0);
    scores = mask_padding(pointwise(GraphStep::multiply, {scores, scale}));
    scores = mask_band(pointwise(GraphStep::subtract, {scores, lse}));
    return pointwise(GraphStep::exp, {scores});
}

void Builder::add_key_gradient(TensorId scores, TensorId rows, TensorId into,
                               AttentionTensor tensor, TensorId heads_id) {
    const auto queries = entries_.queries, keys = entries_.keys;
    const auto turned = graph_.node(GraphStep::reshape, {scores},
                                    inner(type_, {entries_.count, heads(), keys, queries},
                                          {heads() * queries * keys, queries * keys, 1, keys}));
    auto product = into;
    if (group() > 1) {
        const auto width = work::width_of(p_, tensor);
        GraphTensor each{.element = type_,
                         .dims = {entries_.count, heads(), keys, width},
                         .strides = compact(heads(), keys, width)};
        if (by_token() && entries_.has_offsets(tensor)) {
            // The library multiplies the offsets by the group itself.
            const auto s = strides(tensor);
            each.id = heads_id;
            each.name = "heads of a gradient";
            each.place = GraphPlace::scratch;
            each.strides = {s[0] * group(), s[1], s[2] * group(), 1};
            each.offsets = offsets(tensor);
            each.bytes = scratch_elements(tensor, heads(), group()) * sizeof(float);
        }
        product = graph_.add(std::move(each));
    }
    matmul(turned, rows, product, key_lengths_, 0, query_lengths_);
    if (group() > 1) graph_.node(GraphStep::sum, {product}, into);
}

void Builder::add_query_gradient(TensorId scores, TensorId k, TensorId into) {
    const auto rows = graph_.add({.dims = dims(AttentionTensor::k),
                                  .strides = strides(AttentionTensor::k),
                                  .offsets = offsets(AttentionTensor::k)});
    graph_.node(GraphStep::reshape, {k}, rows);
    // In memory: without an address for it the library takes kernels of an earlier architecture.
    const bool like_q = by_token() && entries_.has_offsets(AttentionTensor::q);
    const auto elements =
        like_q ? scratch_elements(AttentionTensor::q, heads(), 1)
               : static_cast<std::uint64_t>(entries_.count * heads() * entries_.queries * p_.dim);
    const auto sum = graph_.add({.id = id_d_q_sum,
                                 .name = "sum of d_q",
                                 .place = GraphPlace::scratch,
                                 .dims = dims(AttentionTensor::q),
                                 .strides = like_q ? strides(AttentionTensor::q)
                                                   : compact(heads(), entries_.queries, p_.dim),
                                 .offsets = like_q ? offsets(AttentionTensor::q) : 0,
                                 .bytes = elements * sizeof(float)});
    matmul(scores, rows, sum, query_lengths_, 0, key_lengths_);
    graph_.node(GraphStep::identity, {sum}, into);
}

CudnnGraph Builder::backward() {
    const auto q = operand(id_q, "q", AttentionTensor::q);
    const auto k = turned_operand(id_k, "k", AttentionTensor::k);
    const auto v = turned_operand(id_v, "v", AttentionTensor::v);
    const auto o = operand(id_o, "o", AttentionTensor::o);
    const auto lse = operand(id_lse, "lse", AttentionTensor::lse);
    const auto d_o = operand(id_d_o, "d_o", AttentionTensor::o);
    const auto d_q = operand(id_d_q, "d_q", AttentionTensor::q);
    const auto d_k = operand(id_d_k, "d_k", AttentionTensor::k);
    const auto d_v = operand(id_d_v, "d_v", AttentionTensor::v);

    const auto delta = add_delta(o, d_o);
    const auto scale = graph_.constant(work::scale_of(p_));
    const auto p = add_probabilities(q, k, lse, scale);
    add_key_gradient(p, d_o, d_v, AttentionTensor::v, id_d_v_heads);

    auto d_s = matmul(d_o, v, inner_scores(), query_lengths_, key_lengths_, 0);
    d_s = pointwise(GraphStep::subtract, {d_s, delta});
    d_s = pointwise(GraphStep::multiply, {pointwise(GraphStep::multiply, {d_s, p}), scale});
    add_key_gradient(d_s, q, d_k, AttentionTensor::k, id_d_k_heads);
    add_query_gradient(d_s, k, d_q);
    return std::move(graph_);
}

}  // namespace

CudnnGraph cudnn_attention_graph(const work::Attention& problem, const CudnnEntries& entries,
                                 work::AttentionPass pass, ScratchSize scratch) {
    Builder builder(problem, entries, scratch);
    return pass == work::AttentionPass::forward ? builder.forward() : builder.backward();
}

}  // namespace assay::cuda
