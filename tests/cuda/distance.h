// How far a tensor is from the right one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "work/attention_oracle.h"

namespace assay::cuda {

// Of one row, over what the whole tensor is held to.
inline constexpr double kRowSlack = 4;

// |got - right| / |right| over a whole tensor; infinite where something isn't finite. A gradient
// may be zero because its terms cancel, as where each query sees one key: what rounding leaves of
// them is held against a hundredth of the terms then. Half a wrong row of thousands is lost in that
// norm, so that the worst row can be asked for as well.
class Distance {
  public:
    // The next element of a row.
    void add(double got, double right) {
        row_.difference += (got - right) * (got - right);
        row_.size += right * right;
    }
    // Of the row whose elements are added.
    void add_terms(const work::TermSizes& terms) { row_.terms += terms.squares; }
    void end_row() {
        rows_.push_back(row_);
        row_ = {};
    }

    double value() const {
        const auto all = sum();
        return relative(all.difference, sized(all));
    }

    struct Row {
        double value = 0;
        std::size_t number = 0;  // in the order in which they ended
    };
    // |got - right| of a row over |right| or the rows' root-mean-square, whichever is larger; of
    // the row that has most of it.
    Row worst_row() const {
        const auto count = static_cast<double>(std::max<std::size_t>(1, rows_.size()));
        const double usual = sized(sum()) / count;
        Row worst;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const auto& row = rows_[i];
            const double d = relative(row.difference, std::max(sized(row), usual));
            if (d > worst.value) worst = {d, i};
        }
        return worst;
    }

  private:
    // Of squares.
    struct Sums {
        double difference = 0, size = 0, terms = 0;
    };

    static double sized(const Sums& sums) {
        constexpr double kTerms = 0.01;
        return std::max(sums.size, kTerms * kTerms * sums.terms);
    }
    static double relative(double difference, double size) {
        const double d = difference == 0 ? 0 : std::sqrt(difference / size);
        return std::isfinite(d) ? d : std::numeric_limits<double>::infinity();
    }
    Sums sum() const {
        Sums all = row_;
        for (const auto& row : rows_) {
            all.difference += row.difference;
            all.size += row.size;
            all.terms += row.terms;
        }
        return all;
    }

    std::vector<Sums> rows_;
    Sums row_;
};

}  // namespace assay::cuda
