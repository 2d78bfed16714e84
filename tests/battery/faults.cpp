// Faults: one planted mistake per reduction, each of a kind that a hand could make, and the check that must find it.
#include "battery.hpp"

#include <subquad/core/error.hpp>
#include <subquad/problems/approximate_nearest_neighbor.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/reductions/gap_search.hpp>
#include <subquad/sat/cnf.hpp>

#include <algorithm>
#include <any>
#include <utility>

namespace subquad::battery {

using problems::ApproximateNearestNeighbor;
using problems::Attention;
using problems::GapAnn;
using problems::OrthogonalVectors;
using reductions::AnyAnswer;
using reductions::AnyInstance;
using reductions::AnyOracle;
using reductions::AnyReduction;
using reductions::ParameterValues;
using reductions::ReductionEntry;
using reductions::SizeBound;

namespace {

using Shared = std::shared_ptr<const AnyReduction>;

/// A many-one reduction whose target is spoilt after it was built.
class SpoiltTarget final : public AnyReduction {
 public:
  using Build = std::function<AnyInstance(const AnyReduction& right, const AnyInstance& source)>;

  SpoiltTarget(Shared right, Build build) : right_(std::move(right)), build_(std::move(build)) {}

  std::vector<SizeBound> size_bounds() const override { return right_->size_bounds(); }
  AnyInstance reduce(const AnyInstance& source, const Execution&) const override { return build_(*right_, source); }
  AnyAnswer lift(const AnyInstance& source, const AnyInstance& target, const AnyAnswer& answer) const override {
    return right_->lift(source, target, answer);
  }
  AnyAnswer solve(const AnyInstance& source, const AnyOracle& oracle, const Execution& execution) const override {
    const AnyInstance target = reduce(source, execution);
    return lift(source, target, oracle(target));
  }

 private:
  Shared right_;
  Build build_;
};

/// The mask of the first clause loses the bit of its first literal: as if the clause had been written without it.
AnyInstance without_first_literal(const AnyReduction& right, const AnyInstance& source) {
  const auto& formula = std::any_cast<const sat::Cnf&>(source.value);
  sat::Cnf damaged(formula.num_variables());
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c) {
    const auto clause = formula.clause(c);
    std::vector<sat::Literal> literals(clause.begin(), clause.end());
    if (c == 0 && !literals.empty()) std::erase(literals, sat::Literal(literals.front()));
    damaged.add_clause(literals);
  }
  return right.reduce({"cnf", damaged}, {});
}

/// f(1) = 011 instead of 010 in coordinate 0.
AnyInstance with_flipped_gadget_bit(const AnyReduction& right, const AnyInstance& source) {
  const auto& ov = std::any_cast<const OrthogonalVectors::Instance&>(source.value);
  AnyInstance target = right.reduce(source, {});
  auto& gap = std::any_cast<GapAnn::Instance&>(target.value);
  for (std::uint64_t i = 0; i < ov.a.rows(); ++i)
    if (ov.a.cols() > 0 && ov.a.get(i, 0)) gap.queries.set(i, 2, !gap.queries.get(i, 2));
  return target;
}

/// rho = (1+2 eps)/(1-2 eps) instead of its square. That is the right rho of a smaller tolerance, so the instance is
/// the one made for that tolerance, sold as one for the default 0.1: (1+2x)/(1-2x) = sqrt(1.2/0.8) at x = 0.0505.
class RhoNotSquared final : public AnyReduction {
 public:
  RhoNotSquared(const ReductionEntry& entry, const ParameterValues& values) : right_(entry.make(values)) {
    ParameterValues weaker = values;
    if (!values.contains("mode") && !values.contains("tolerance")) weaker["tolerance"] = "0.0505";
    weak_ = entry.make(weaker);
  }

  std::vector<SizeBound> size_bounds() const override { return right_->size_bounds(); }
  AnyInstance reduce(const AnyInstance& source, const Execution& execution) const override {
    AnyInstance target = weak_->reduce(source, execution);
    const AnyInstance sold_as = right_->reduce(source, execution);
    std::any_cast<Attention::Instance&>(target.value).log_tolerance =
        std::any_cast<const Attention::Instance&>(sold_as.value).log_tolerance;
    return target;
  }
  AnyAnswer lift(const AnyInstance& source, const AnyInstance& target, const AnyAnswer& answer) const override {
    return weak_->lift(source, target, answer);
  }
  AnyAnswer solve(const AnyInstance& source, const AnyOracle& oracle, const Execution& execution) const override {
    const AnyInstance target = reduce(source, execution);
    return lift(source, target, oracle(target));
  }

 private:
  Shared right_;
  Shared weak_;
};

/// ann_to_gap_ann whose halving keeps the first threshold after a yes, although a yes certifies a key below `far` only.
class UnrelaxedHalving final : public AnyReduction {
 public:
  explicit UnrelaxedHalving(Shared right) : right_(std::move(right)) {}

  std::vector<SizeBound> size_bounds() const override { return right_->size_bounds(); }
  AnyInstance reduce(const AnyInstance& source, const Execution& execution) const override {
    return right_->reduce(source, execution);
  }
  AnyAnswer lift(const AnyInstance& source, const AnyInstance& target, const AnyAnswer& answer) const override {
    return right_->lift(source, target, answer);
  }
  AnyAnswer solve(const AnyInstance& source, const AnyOracle& oracle, const Execution& execution) const override {
    const auto& ann = std::any_cast<const ApproximateNearestNeighbor::Instance&>(source.value);
    const std::uint64_t num_keys = ann.keys.rows();
    const std::uint64_t dim = ann.queries.cols();
    const reductions::GapFactor factor(ann.eps_num, ann.eps_den, 1 + ceil_log2(Count(num_keys)));
    const auto decide = [&](const std::vector<std::uint64_t>& rows, reductions::KeyRange keys, std::uint64_t near,
                            std::uint64_t far) {
      GapAnn::Instance call{BitMatrix(rows.size(), dim), BitMatrix(keys.size(), dim), static_cast<std::int64_t>(near),
                            static_cast<std::int64_t>(far)};
      for (std::uint64_t r = 0; r < rows.size(); ++r)
        for (std::uint64_t c = 0; c < dim; ++c) call.queries.set(r, c, ann.queries.get(rows[r], c));
      for (std::uint64_t k = 0; k < keys.size(); ++k)
        for (std::uint64_t c = 0; c < dim; ++c) call.keys.set(k, c, ann.keys.get(keys.first + k, c));
      return std::any_cast<const GapAnn::Answer&>(oracle({"gap-ann", call}).value).near;
    };
    const reductions::GapSearch search{ann.queries.rows(), num_keys, dim, factor, decide};
    const auto values = reductions::search_values(search, reductions::Thresholds::integers(dim), execution);
    ApproximateNearestNeighbor::Answer answer;
    for (std::uint64_t row = 0; row < values.size(); ++row) {
      const std::uint64_t near = factor.scaled(values[row].base, 1);
      reductions::KeyRange keys{0, num_keys};
      while (keys.size() > 1 && near < dim) {
        const reductions::KeyRange left{keys.first, keys.first + keys.size() / 2};
        const std::uint64_t far = std::min(dim, factor.scaled(near, 1)) + 1;
        if (decide({row}, left, near, far)[0]) {
          keys = left;  // the fault: near stays
        } else {
          keys.first = left.last;
        }
      }
      answer.rows.push_back({values[row].value, keys.first});
    }
    return {"ann", answer};
  }

 private:
  Shared right_;
};

Fault spoilt(std::string reduction, std::string what, std::string caught_by, SpoiltTarget::Build build) {
  return {std::move(reduction), std::move(what), std::move(caught_by),
          [build = std::move(build)](const ReductionEntry& entry, const ParameterValues& values) -> Shared {
            return std::make_shared<SpoiltTarget>(entry.make(values), build);
          }};
}

template <class Faulty>
Fault remade(std::string reduction, std::string what, std::string caught_by) {
  return {std::move(reduction), std::move(what), std::move(caught_by),
          [](const ReductionEntry& entry, const ParameterValues& values) -> Shared {
            if constexpr (std::is_constructible_v<Faulty, const ReductionEntry&, const ParameterValues&>) {
              return std::make_shared<Faulty>(entry, values);
            } else {
              return std::make_shared<Faulty>(entry.make(values));
            }
          }};
}

const std::vector<Fault>& table() {
  static const std::vector<Fault> faults = {
      spoilt("cnf_to_ov", "one clause mask bit dropped", "lift", without_first_literal),
      spoilt("cnf_to_p_ov", "one clause mask bit dropped", "lift", without_first_literal),
      spoilt("ov_to_gap_ann", "one gadget bit flipped", "lift", with_flipped_gadget_bit),
      remade<RhoNotSquared>("ov_to_attention", "rho not squared", "lift"),
      remade<UnrelaxedHalving>("ann_to_gap_ann", "threshold not relaxed after a yes", "solve"),
      remade<RhoNotSquared>("gap_ann_to_attention", "rho not squared", "lift"),
  };
  return faults;
}

}  // namespace

std::vector<const Fault*> faults(std::string_view reduction) {
  std::vector<const Fault*> found;
  for (const Fault& fault : table())
    if (fault.reduction == reduction) found.push_back(&fault);
  return found;
}

}  // namespace subquad::battery
