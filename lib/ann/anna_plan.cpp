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
// Code lengths up to here are all tried, longer ones in steps of this part of them.
constexpr std::uint64_t kFineLengths = 1024;

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
  require((!r.far_pairs || *r.far_pairs >= 0) && (!r.near_pairs || *r.near_pairs >= 0), ErrorKind::parameter,
          "anna plan: {} far and {} near pairs, expected no negative number", describe(r.far_pairs.value_or(0)),
          describe(r.near_pairs.value_or(0)));
  const double largest = family.metric == Metric::angular   ? 2.0
                         : family.metric == Metric::hamming ? static_cast<double>(r.dim)
                                                            : std::numeric_limits<double>::infinity();
  require(r.radius * r.ratio <= largest, ErrorKind::parameter,
          "anna plan: c r = {}, but {} has distances up to {} only", r.radius * r.ratio, family.name, largest);
}

Count pairs(const std::optional<Count>& known, const AnnaRequest& r) {
  return known ? *known : Count(r.num_queries) * Count(r.num_keys);
}

void count_cost(AnnaPlan& plan) {
  const AnnaRequest& r = plan.request;
  const Count points = Count(r.num_queries) + Count(r.num_keys);
  const Count hashing = points * plan.code_length * Count(std::ceil(plan.family.operations_per_code));
  plan.operations = Count(plan.tables) * (hashing + points * (Count(r.value_dim) + 1));
  plan.exact_operations = Count(r.num_queries) * Count(r.num_keys) * (Count(r.dim) + r.value_dim);
  plan.gain = plan.operations < plan.exact_operations;
  const Count sums = Count(8) * (Count(r.value_dim) + 1);
  plan.bytes_tables = Count(plan.tables) * Count(r.num_keys) * (Count(8) * plan.code_length + sums + 28);
  // While a table is built, codes, tuples and the tuples that stay; later sums, and two indices a key
  // (attention/anna.cpp).
  plan.bytes_linear = Count(r.num_queries) * (Count(24) * plan.code_length + sums + 64) + Count(r.num_keys) * Count(8);
}

void add_paper_choice(AnnaPlan& plan, const Count& far, const Count& near) {
  const double n = static_cast<double>(std::max(plan.request.num_queries, plan.request.num_keys));
  plan.paper_failure_bound = 1;
  if (!(plan.far_probability > 0 && plan.far_probability < 1) || n < 2) return;
  plan.paper_code_length = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(3 * std::log(n) / -std::log(plan.far_probability))));
  const double tables = std::ceil(std::exp(3 * plan.rho * std::log(n)) * std::log(n));
  plan.paper_tables = Count(tables);
  if (!(tables < 0x1p62)) return;
  plan.paper_failure_bound = anna_failure_bound(plan.near_probability, plan.far_probability, plan.paper_code_length,
                                                static_cast<std::uint64_t>(tables), far, near);
}

/// A (1 - (1 - p2^z)^l), upward. Each p may itself be off in its last digits; to the power z that is z times as much.
double false_meetings(double p2, double z, double l, const Count& far) {
  return far == 0 ? 0.0 : to_double(far) * meets_somewhere(p2, z, l) * (kUpward + 1e-14 * z);
}

/// B (1 - p1^z)^l, upward.
double missed_pairs(double p1, double z, double l, const Count& near) {
  return near == 0 ? 0.0 : to_double(near) * never_meets(p1 * (1 - 1e-14), z, l) * kUpward;
}

/// Tables that bring the near pairs' share down to `share`: a lower bound, as real number. share > 0.
double tables_for_near(double p1, double z, const Count& near, double share) {
  if (near == 0) return 1;
  const double meets = p1 > 0 ? std::exp(z * std::log(p1)) : 0.0;
  if (meets >= 1) return 1;
  return std::max(1.0, std::log(to_double(near) / share) / -std::log1p(-meets) * (1 - 1e-12));
}

/// The least l <= limit that keeps eta with codes of this length. The far pairs' share grows with l and the near pairs'
/// falls: whatever l will do, the near pairs get at most what the far pairs of a smaller l leave them. So the lower
/// bounds below climb, and the first that will do is the least.
std::optional<std::uint64_t> least_tables(double p1, double p2, double z, const Count& far, const Count& near,
                                          double eta, std::uint64_t limit) {
  std::uint64_t l = 1;
  while (true) {
    const auto tables = static_cast<double>(l);
    const double false_share = false_meetings(p2, z, tables, far);
    if (false_share + missed_pairs(p1, z, tables, near) <= eta) return l;
    if (!(false_share < eta)) return std::nullopt;
    const double needed = std::ceil(tables_for_near(p1, z, near, eta - false_share));
    if (!(needed <= static_cast<double>(limit)) || l >= limit) return std::nullopt;
    l = std::max(l + 1, static_cast<std::uint64_t>(needed));
  }
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
  return std::min(1.0,
                  false_meetings(far_probability, z, l, far_pairs) + missed_pairs(near_probability, z, l, near_pairs));
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
  // The far pairs need A p2^z <= eta even of one table: shorter codes are out.
  const double shortest = far == 0 || p2 <= 0 ? 1.0 : std::log(to_double(far) / request.failure) / -std::log(p2);
  // A number, and with integers around it: p2 = 1 gives infinity.
  const bool possible = p2 < 1 && shortest < 0x1p52;
  auto z = possible ? static_cast<std::uint64_t>(std::max(1.0, std::floor(shortest * (1 - 1e-9)))) : std::uint64_t{0};
  for (; possible; z += 1 + z / kFineLengths) {
    const auto length = static_cast<double>(z);
    const double needed = tables_for_near(p1, length, near, request.failure);
    if (!(needed <= static_cast<double>(request.max_tables))) break;  // longer codes need still more
    AnnaPlan candidate = plan;
    candidate.code_length = z;
    candidate.tables = static_cast<std::uint64_t>(needed);
    count_cost(candidate);
    if (best && candidate.operations >= best->operations) break;  // and longer codes cost still more
    const auto l = least_tables(p1, p2, length, far, near, request.failure, request.max_tables);
    if (!l) continue;
    candidate.tables = *l;
    candidate.failure_bound = anna_failure_bound(p1, p2, z, *l, far, near);
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
  require(radius >= 0 && ratio >= 1 && std::isfinite(radius * ratio), ErrorKind::parameter,
          "anna bound: r = {}, c = {}; expected r >= 0, c >= 1", radius, ratio);
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
  // Adding up so many positive terms may lose half a unit in the last place each time.
  const double terms = 2 * static_cast<double>(q.rows()) * static_cast<double>(k.rows());
  return std::min(1.0, sum * (kUpward + 1e-14 * z + 1.2e-16 * terms));
}

}  // namespace subquad::ann
