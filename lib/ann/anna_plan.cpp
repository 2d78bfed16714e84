#include <subquad/ann/anna_plan.hpp>
#include <subquad/ann/collision_probability.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace subquad::ann {
namespace {

// What covers the rounding of a bound's evaluation: a few logarithms, exponentials and products, each within some 1e-15
// relative; exponents are up to z, l <= 2^20 times larger. docs/proofs/anna_plan.md.
constexpr double kUpward = 1 + 1e-9;
constexpr std::uint64_t kLongestCode = 4096;

double to_double(const Count& count) {
  return count.convert_to<double>();
}

/// (1 - p^z)^l: no table of l lets a pair meet, if each of z codes agrees with probability p.
double never_meets(double p, double z, double l) {
  if (p <= 0) return 1;
  const double meets = std::exp(z * std::log(p));
  return meets >= 1 ? 0.0 : std::exp(l * std::log1p(-meets));
}

/// 1 - (1 - p^z)^l.
double meets_somewhere(double p, double z, double l) {
  if (p <= 0) return 0;
  const double meets = std::exp(z * std::log(p));
  return meets >= 1 ? 1.0 : -std::expm1(l * std::log1p(-meets));
}

void check(const AnnaRequest& r, const HashFamily& family) {
  require(r.num_queries >= 1 && r.num_keys >= 1 && r.dim >= 1, ErrorKind::parameter,
          "anna plan: {} queries, {} keys, dimension {}; expected at least 1 each", r.num_queries, r.num_keys, r.dim);
  require(r.dim == family.dim, ErrorKind::parameter, "anna plan: dimension {}, but the family hashes {}", r.dim,
          family.dim);
  require(r.radius > 0 && std::isfinite(r.radius), ErrorKind::parameter,
          "anna plan: radius r = {}, expected a positive number", r.radius);
  require(r.ratio > 1 && std::isfinite(r.ratio), ErrorKind::parameter,
          "anna plan: ratio c = {}, expected a number above 1", r.ratio);
  const double largest = family.metric == Metric::angular   ? 2.0
                         : family.metric == Metric::hamming ? static_cast<double>(r.dim)
                                                            : std::numeric_limits<double>::infinity();
  require(r.radius * r.ratio <= largest, ErrorKind::parameter,
          "anna plan: c r = {}, but {} has distances up to {} only", r.radius * r.ratio, family.name, largest);
}

Count pairs(const std::optional<Count>& known, const AnnaRequest& r) {
  return known ? *known : Count(r.num_queries) * Count(r.num_keys);
}

/// Multiply-adds to hash one point into one code of the family.
Count code_operations(const HashFamily& family) {
  if (family.metric == Metric::hamming) return 1;
  if (family.name == "cross-polytope") return Count(family.dim) * family.dim;
  return family.dim;
}

void count_cost(AnnaPlan& plan) {
  const AnnaRequest& r = plan.request;
  const Count points = Count(r.num_queries) + Count(r.num_keys);
  const Count codes = points * plan.code_length;
  plan.operations = Count(plan.tables) * (codes * code_operations(plan.family) + points * (Count(r.value_dim) + 1));
  plan.exact_operations = Count(r.num_queries) * Count(r.num_keys) * (Count(r.dim) + r.value_dim);
  plan.gain = plan.operations < plan.exact_operations;
  const Count sums = Count(8) * (Count(r.value_dim) + 1);
  plan.bytes_tables = Count(plan.tables) * Count(r.num_keys) * (Count(8) * plan.code_length + sums + 20);
  plan.bytes_linear = Count(r.num_queries) * (Count(8) * plan.code_length + 2 * sums + 20) +
                      Count(r.num_keys) * (Count(8) * plan.code_length);
}

void add_paper_choice(AnnaPlan& plan, const Count& far, const Count& near) {
  const double n = static_cast<double>(std::max(plan.request.num_queries, plan.request.num_keys));
  plan.paper_failure_bound = 1;
  if (!(plan.far_probability > 0 && plan.far_probability < 1) || n < 2) return;
  plan.paper_code_length = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(3 * std::log(n) / -std::log(plan.far_probability))));
  const double tables = std::ceil(std::exp(3 * plan.rho * std::log(n)) * std::log(n));
  if (!(tables < 0x1p62)) return;
  plan.paper_tables = Count(tables);
  plan.paper_failure_bound = anna_failure_bound(plan.near_probability, plan.far_probability, plan.paper_code_length,
                                                static_cast<std::uint64_t>(tables), far, near);
}

/// What does not depend on z and l.
AnnaPlan start_plan(const AnnaRequest& request, const HashFamily& family) {
  check(request, family);
  AnnaPlan plan;
  plan.request = request;
  plan.family = family;
  plan.near_probability = family.collision_probability(request.radius);
  plan.far_probability = family.collision_probability(request.radius * request.ratio);
  if (plan.near_probability < 1 && plan.far_probability > 0) {
    plan.rho = std::log(plan.near_probability) / std::log(plan.far_probability);
  }
  return plan;
}

}  // namespace

double anna_failure_bound(double near_probability, double far_probability, std::uint64_t code_length,
                          std::uint64_t tables, const Count& far_pairs, const Count& near_pairs) {
  const auto z = static_cast<double>(code_length);
  const auto l = static_cast<double>(tables);
  // Each p may itself be off in its last digits; raised to the power z that is z times as much.
  const double slack = kUpward + 1e-14 * z;
  const double false_meeting = to_double(far_pairs) * meets_somewhere(far_probability, z, l) * slack;
  const double missed = to_double(near_pairs) * never_meets(near_probability * (1 - 1e-14), z, l) * kUpward;
  return std::min(1.0, false_meeting + missed);
}

AnnaPlan judge_anna(const AnnaRequest& request, const HashFamily& family, std::uint64_t code_length,
                    std::uint64_t tables) {
  require(code_length >= 1 && tables >= 1, ErrorKind::parameter,
          "anna plan: code length {}, {} tables; expected at least 1", code_length, tables);
  AnnaPlan plan = start_plan(request, family);
  const Count far = pairs(request.far_pairs, request);
  const Count near = pairs(request.near_pairs, request);
  plan.code_length = code_length;
  plan.tables = tables;
  plan.failure_bound = anna_failure_bound(plan.near_probability, plan.far_probability, code_length, tables, far, near);
  count_cost(plan);
  add_paper_choice(plan, far, near);
  return plan;
}

AnnaPlan plan_anna(const AnnaRequest& request, const HashFamily& family) {
  require(request.failure > 0 && request.failure < 1, ErrorKind::parameter,
          "anna plan: failure probability {}, expected a number in (0, 1)", request.failure);
  require(request.max_tables >= 1, ErrorKind::parameter, "anna plan: at most 0 tables, expected at least 1");
  const AnnaPlan plan = start_plan(request, family);
  const double p1 = plan.near_probability;
  const double p2 = plan.far_probability;
  const Count far = pairs(request.far_pairs, request);
  const Count near = pairs(request.near_pairs, request);

  std::optional<AnnaPlan> best;
  for (std::uint64_t z = 1; z <= kLongestCode; ++z) {
    // Tables that the near pairs need if they may use all of eta; the far pairs' share then decides whether that, or a
    // few more, will do. More tables only help the near pairs, and only hurt the far ones.
    const double meets = std::exp(static_cast<double>(z) * std::log(p1));
    const double needed = near == 0      ? 1.0
                          : meets >= 1   ? 1.0
                          : meets <= 0.0 ? std::numeric_limits<double>::infinity()
                                         : std::log(to_double(near) / request.failure) / -std::log1p(-meets);
    if (!(needed <= static_cast<double>(request.max_tables))) break;  // larger z needs still more
    const auto least = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(needed)));
    // With twice the tables the near term is squared: beyond that nothing is to be gained.
    const std::uint64_t most = std::min(request.max_tables, 2 * least + 2);
    const auto bound = [&](std::uint64_t l) { return anna_failure_bound(p1, p2, z, l, far, near); };
    std::uint64_t l = least;
    while (l <= most && !(bound(l) <= request.failure)) l += std::max<std::uint64_t>(1, least / 64);
    if (l > most) continue;
    while (l > least && bound(l - 1) <= request.failure) --l;
    AnnaPlan candidate = plan;
    candidate.code_length = z;
    candidate.tables = l;
    candidate.failure_bound = bound(l);
    count_cost(candidate);
    if (!best || candidate.operations < best->operations) best = candidate;
  }
  require(
      best.has_value(), ErrorKind::resource,
      "anna plan: {} with p1 = {:.6g} at r = {:g} and p2 = {:.6g} at c r = {:g} (rho = {:.3g}) keeps the failure "
      "probability {:g} for {} far and {} near pairs with no code length and at most {} tables; raise c, eta or the "
      "number of tables",
      family.name, p1, request.radius, p2, request.radius * request.ratio, plan.rho, request.failure, describe(far),
      describe(near), request.max_tables);
  add_paper_choice(*best, far, near);
  return *best;
}

AnnaPlan plan_anna_e2lsh(const AnnaRequest& request) {
  check(request, e2lsh(std::max<std::uint64_t>(request.dim, 1), 1));  // before widths are multiples of r
  std::optional<AnnaPlan> best;
  std::optional<Error> refusal;
  for (double width = 0.5; width <= 1000; width *= 1.0905077326652577) {  // 2^(1/8)
    try {
      const AnnaPlan plan = plan_anna(request, e2lsh(request.dim, width * request.radius));
      if (!best || plan.operations < best->operations) best = plan;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::resource) throw;
      if (!refusal || width < 5) refusal = error;
    }
  }
  if (!best) throw *refusal;
  return *best;
}

double anna_instance_failure_bound(const HashFamily& family, std::uint64_t code_length, std::uint64_t tables,
                                   const Eigen::Ref<const problems::MatrixD>& q,
                                   const Eigen::Ref<const problems::MatrixD>& k, double radius, double ratio) {
  require(code_length >= 1 && tables >= 1, ErrorKind::parameter,
          "anna bound: code length {}, {} tables; expected at least 1", code_length, tables);
  require(radius >= 0 && ratio >= 1, ErrorKind::parameter, "anna bound: r = {}, c = {}; expected r >= 0, c >= 1",
          radius, ratio);
  check_points(family, q, "Q");
  check_points(family, k, "K");
  const auto z = static_cast<double>(code_length);
  const auto l = static_cast<double>(tables);
  double sum = 0;
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    for (Eigen::Index j = 0; j < k.rows(); ++j) {
      const double d = distance(family.metric, q.row(i), k.row(j));
      const double p = family.collision_probability(d);
      if (d > radius * ratio * (1 - 1e-12)) sum += meets_somewhere(p, z, l);
      if (d <= radius * (1 + 1e-12)) sum += never_meets(p * (1 - 1e-14), z, l);
    }
  }
  return std::min(1.0, sum * (kUpward + 1e-14 * z));
}

}  // namespace subquad::ann
