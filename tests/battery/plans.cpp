// Plans: parameter sets and the theorem's own law of every registered reduction.
#include "battery.hpp"
#include "edge_instances.hpp"

#include <subquad/core/count.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/orthogonal_tuples.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/reductions/cnf_to_ov.hpp>
#include <subquad/sat/cnf.hpp>

#include <algorithm>
#include <any>
#include <cmath>
#include <set>

namespace subquad::battery {

using problems::Attention;
using problems::GapAnn;
using problems::OrthogonalTuples;
using problems::OrthogonalVectors;
using reductions::AnyInstance;
using reductions::ParameterValues;

namespace {

template <class Instance>
const Instance& as(const AnyInstance& any) {
  return std::any_cast<const Instance&>(any.value);
}

std::uint64_t inner_product_by_bits(const BitMatrix& a, std::uint64_t i, const BitMatrix& b, std::uint64_t j) {
  std::uint64_t common = 0;
  for (std::uint64_t c = 0; c < a.cols(); ++c) common += a.get(i, c) && b.get(j, c) ? 1 : 0;
  return common;
}

std::uint64_t distance_by_bits(const BitMatrix& a, std::uint64_t i, const BitMatrix& b, std::uint64_t j) {
  std::uint64_t distance = 0;
  for (std::uint64_t c = 0; c < a.cols(); ++c) distance += a.get(i, c) != b.get(j, c) ? 1 : 0;
  return distance;
}

/// Every model is pushed forward to an orthogonal pair of its own, and there are no other pairs.
std::string models_are_pairs(const ParameterValues& values, const AnyInstance& source, const AnyInstance& target) {
  const auto& formula = as<sat::Cnf>(source);
  const auto& ov = as<OrthogonalVectors::Instance>(target);
  const reductions::CnfToOv reduction(reductions::CnfToOv::Parameters::parse(values));
  std::set<std::pair<std::uint64_t, std::uint64_t>> pushed;
  for (const sat::Model& model : test::all_models(formula)) pushed.insert(reduction.push_forward(formula, model));
  std::uint64_t orthogonal = 0;
  for (std::uint64_t i = 0; i < ov.a.rows(); ++i) {
    for (std::uint64_t j = 0; j < ov.b.rows(); ++j) {
      if (inner_product_by_bits(ov.a, i, ov.b, j) != 0) continue;
      ++orthogonal;
      if (!pushed.contains({i, j})) return fmt::format("pair ({}, {}) is orthogonal and comes from no model", i, j);
    }
  }
  if (orthogonal != pushed.size()) return fmt::format("{} models, {} orthogonal pairs", pushed.size(), orthogonal);
  return "";
}

std::string models_are_tuples(const ParameterValues&, const AnyInstance& source, const AnyInstance& target) {
  const std::size_t models = test::all_models(as<sat::Cnf>(source)).size();
  std::size_t tuples = 0;
  problems::for_each_orthogonal_tuple(as<OrthogonalTuples::Instance>(target), [&](const std::vector<std::uint64_t>&) {
    ++tuples;
    return true;
  });
  return models == tuples ? "" : fmt::format("{} models, {} orthogonal tuples", models, tuples);
}

/// dist = r_yes + 2 <a,b> for every pair; so no row is outside the promise.
std::string distances_tell_inner_products(const ParameterValues&, const AnyInstance& source,
                                          const AnyInstance& target) {
  const auto& ov = as<OrthogonalVectors::Instance>(source);
  const auto& gap = as<GapAnn::Instance>(target);
  if (gap.r_no != gap.r_yes + 2) return fmt::format("thresholds {} and {}, expected a gap of 2", gap.r_yes, gap.r_no);
  for (std::uint64_t i = 0; i < ov.a.rows(); ++i) {
    for (std::uint64_t j = 0; j < ov.b.rows(); ++j) {
      const std::uint64_t expected =
          static_cast<std::uint64_t>(gap.r_yes) + 2 * inner_product_by_bits(ov.a, i, ov.b, j);
      const std::uint64_t distance = distance_by_bits(gap.queries, i, gap.keys, j);
      if (distance != expected)
        return fmt::format("points ({}, {}) are at distance {}, expected {}", i, j, distance, expected);
    }
  }
  return "";
}

/// Rows that have to be flagged have an output of 1/2 + eps_a at least, rows that must not be 1/2 - eps_a at most.
/// Decided in doubles with room for their rounding; where doubles do not show the tolerance, the lifts decide.
template <class Flag>
std::string margin(const Attention::Instance& attention, std::uint64_t rows, Flag flag_of) {
  constexpr double kRounding = 1e-9;
  const double eps = std::exp(attention.log_tolerance);
  if (!(eps >= 1e-6)) return "";
  Execution one;
  one.threads = 1;
  const Attention::Answer exact = Attention::solve_brute_force(attention, one);
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::optional<bool> flag = flag_of(i);
    if (!flag) continue;
    const double u = exact.output(static_cast<Eigen::Index>(i), 0);
    const bool holds = *flag ? u >= 0.5 + eps - kRounding : u <= 0.5 - eps + kRounding;
    if (!holds)
      return fmt::format("row {} has output {}, allowed error {}, should be {}", i, u, eps, *flag ? "above" : "below");
  }
  return "";
}

std::string ov_margin(const ParameterValues&, const AnyInstance& source, const AnyInstance& target) {
  const auto& ov = as<OrthogonalVectors::Instance>(source);
  return margin(as<Attention::Instance>(target), ov.a.rows(), [&](std::uint64_t i) -> std::optional<bool> {
    for (std::uint64_t j = 0; j < ov.b.rows(); ++j)
      if (inner_product_by_bits(ov.a, i, ov.b, j) == 0) return true;
    return false;
  });
}

std::string gap_margin(const ParameterValues&, const AnyInstance& source, const AnyInstance& target) {
  const auto& gap = as<GapAnn::Instance>(source);
  return margin(as<Attention::Instance>(target), gap.queries.rows(), [&](std::uint64_t i) -> std::optional<bool> {
    bool far = true;
    for (std::uint64_t j = 0; j < gap.keys.rows(); ++j) {
      const auto distance = static_cast<std::int64_t>(distance_by_bits(gap.queries, i, gap.keys, j));
      if (distance <= gap.r_yes) return true;
      far = far && distance >= gap.r_no;
    }
    if (far) return false;
    return std::nullopt;
  });
}

/// At most ceil(log2(D+1)) + ceil(log2 n_k) questions a query.
std::string few_questions(const AnyInstance& source, const CallLog& log) {
  const Sizes sizes = reductions::problem("ann").size(source);
  const Count per_row = Count(ceil_log2(size_field(sizes, "dim") + 1)) + ceil_log2(size_field(sizes, "num_keys"));
  const Count allowed = per_row * size_field(sizes, "num_queries");
  if (log.row_questions > allowed) return fmt::format("{} questions, allowed {}", log.row_questions, allowed.str());
  return "";
}

bool has_a_variable(const AnyInstance& source) {
  return as<sat::Cnf>(source).num_variables() >= 1;
}

/// The paper's construction works in the log domain with enclosures of 384 bits: kept to instances that take no time.
bool is_small(const AnyInstance& source) {
  const auto& gap = as<GapAnn::Instance>(source);
  return gap.queries.cols() <= 22 && gap.queries.rows() <= 4 && gap.keys.rows() <= 5;
}

const std::vector<Plan>& plans() {
  static const std::vector<Plan> table = {
      {"cnf_to_ov",
       {{{}, nullptr},
        {{{"left_variables", "0"}}, nullptr},
        {{{"left_variables", "1"}}, has_a_variable},
        {{{"drop_tautologies", "true"}, {"drop_duplicates", "true"}}, nullptr}},
       models_are_pairs,
       nullptr},
      {"cnf_to_p_ov",
       {{{}, nullptr},
        {{{"parts", "1"}}, nullptr},
        {{{"parts", "5"}}, nullptr},
        {{{"parts", "2"}, {"drop_tautologies", "true"}, {"drop_duplicates", "true"}}, nullptr}},
       models_are_tuples,
       nullptr},
      {"ov_to_gap_ann", {{{}, nullptr}, {{{"balanced", "true"}}, nullptr}}, distances_tell_inner_products, nullptr},
      {"ov_to_attention",
       {{{}, nullptr}, {{{"tolerance", "0.01"}}, nullptr}, {{{"tolerance", "0.45"}}, nullptr}},
       ov_margin,
       nullptr},
      {"ann_to_gap_ann", {{{}, nullptr}, {{{"grid", "true"}}, nullptr}}, nullptr, few_questions},
      {"gap_ann_to_attention",
       {{{}, nullptr},
        {{{"tolerance", "0.4"}}, nullptr},
        {{{"mode", "paper"}}, is_small},
        {{{"mode", "paper"}, {"small_t_constant", "0"}}, is_small}},
       gap_margin,
       nullptr},
  };
  return table;
}

}  // namespace

const Plan* plan(std::string_view reduction) {
  const auto found =
      std::find_if(plans().begin(), plans().end(), [&](const Plan& p) { return p.reduction == reduction; });
  return found == plans().end() ? nullptr : &*found;
}

}  // namespace subquad::battery
