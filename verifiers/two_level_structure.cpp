#include "two_level_structure.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace subquad::verifiers {
namespace {

using problems::Attention;
using problems::MatrixD;

constexpr std::size_t kMaxSpecial = 64;

// Rows are compared and ordered by value. -0.0 equals 0.0 here, as it does in every product that follows.
struct RowLess {
  const MatrixD* k;
  const MatrixD* v;
  bool operator()(std::uint64_t left, std::uint64_t right) const {
    const auto less = [](const MatrixD& m, std::uint64_t p, std::uint64_t q) -> int {
      for (Eigen::Index c = 0; c < m.cols(); ++c) {
        const double x = m(static_cast<Eigen::Index>(p), c);
        const double y = m(static_cast<Eigen::Index>(q), c);
        if (x != y) return x < y ? -1 : 1;
      }
      return 0;
    };
    if (const int order = less(*v, left, right); order != 0) return order < 0;
    return k != nullptr && less(*k, left, right) < 0;
  }
};

// Splits the keys into regular (those with the commonest row of V) and special.
struct KeyClasses {
  std::vector<std::uint64_t> regular;
  std::vector<std::uint64_t> special;
};

std::optional<KeyClasses> classify(const Attention::Instance& instance) {
  const RowLess by_value{nullptr, &instance.v};
  std::map<std::uint64_t, std::uint64_t, RowLess> count(by_value);
  std::vector<std::uint64_t> representative(static_cast<std::size_t>(instance.k.rows()));
  for (std::uint64_t j = 0; j < representative.size(); ++j) {
    const auto entry = count.try_emplace(j, 0).first;
    ++entry->second;
    representative[j] = entry->first;
    if (count.size() > kMaxSpecial + 1) return std::nullopt;
  }
  const auto commonest =
      std::max_element(count.begin(), count.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  KeyClasses classes;
  for (std::uint64_t j = 0; j < representative.size(); ++j)
    (representative[j] == commonest->first ? classes.regular : classes.special).push_back(j);
  return classes;
}

// The at most two values seen so far.
class Levels {
 public:
  bool add(double value) {
    if (count_ >= 1 && value == values_[0]) return true;
    if (count_ == 2) return value == values_[1];
    values_[count_++] = value;
    return true;
  }
  // Orders the levels so that a zero comes first. A single level other than zero is paired with its negative, which
  // then simply does not occur: with Q = {-x, x} the statistic is a Hamming distance.
  std::pair<double, double> ordered() const {
    if (count_ == 0) return {0.0, 0.0};
    if (count_ == 1) return {values_[0] == 0.0 ? 0.0 : -values_[0], values_[0]};
    return values_[1] == 0.0 ? std::pair{values_[1], values_[0]} : std::pair{values_[0], values_[1]};
  }

 private:
  double values_[2] = {0.0, 0.0};
  std::size_t count_ = 0;
};

bool constant_over_queries(const MatrixD& q, Eigen::Index column) {
  return (q.col(column).array() == q(0, column)).all();
}

bool constant_over_keys(const MatrixD& k, const std::vector<std::uint64_t>& keys, Eigen::Index column) {
  const double first = k(static_cast<Eigen::Index>(keys.front()), column);
  return std::all_of(keys.begin(), keys.end(),
                     [&](std::uint64_t j) { return k(static_cast<Eigen::Index>(j), column) == first; });
}

BitMatrix extract_bits(const MatrixD& m, const std::vector<Eigen::Index>& columns, double one, double zero,
                       const std::vector<std::uint64_t>* rows) {
  const std::uint64_t count = rows != nullptr ? rows->size() : static_cast<std::uint64_t>(m.rows());
  BitMatrix bits(count, columns.size());
  if (one == zero) return bits;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto row = static_cast<Eigen::Index>(rows != nullptr ? (*rows)[i] : i);
    const auto words = bits.row(i);
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (m(row, columns[c]) == one) words[c / 64] |= std::uint64_t{1} << (c % 64);
  }
  return bits;
}

}  // namespace

std::optional<TwoLevelStructure> two_level_structure(const Attention::Instance& instance) {
  if (instance.q.rows() == 0 || instance.k.rows() == 0) return std::nullopt;
  const auto classes = classify(instance);
  if (!classes) return std::nullopt;

  TwoLevelStructure s;
  s.regular_key = classes->regular.front();
  Levels q_levels, k_levels;
  for (Eigen::Index c = 0; c < instance.q.cols(); ++c) {
    if (constant_over_queries(instance.q, c) && constant_over_keys(instance.k, classes->regular, c)) {
      s.constant_columns.push_back(c);
      continue;
    }
    s.bit_columns.push_back(c);
    for (Eigen::Index i = 0; i < instance.q.rows(); ++i)
      if (!q_levels.add(instance.q(i, c))) return std::nullopt;
    for (const std::uint64_t j : classes->regular)
      if (!k_levels.add(instance.k(static_cast<Eigen::Index>(j), c))) return std::nullopt;
  }
  std::tie(s.x0, s.x1) = q_levels.ordered();
  std::tie(s.z0, s.z1) = k_levels.ordered();
  if (s.x0 == 0.0)
    s.statistic = Statistic::inner_product;
  else if (s.x0 == -s.x1)
    s.statistic = Statistic::hamming_distance;
  else
    return std::nullopt;

  const RowLess by_value{&instance.k, &instance.v};
  std::map<std::uint64_t, SpecialKey, RowLess> special(by_value);
  for (const std::uint64_t j : classes->special) {
    SpecialKey& entry = special.try_emplace(j, SpecialKey{j, 0, 0.0}).first->second;
    if (entry.multiplicity++ > 0) continue;
    if (special.size() > kMaxSpecial) return std::nullopt;
    if (s.bit_columns.empty()) continue;
    const auto row = static_cast<Eigen::Index>(j);
    entry.level = instance.k(row, s.bit_columns.front());
    for (const Eigen::Index c : s.bit_columns)
      if (instance.k(row, c) != entry.level) return std::nullopt;
  }
  for (const auto& [key, entry] : special) s.special.push_back(entry);

  s.a = extract_bits(instance.q, s.bit_columns, s.x1, s.x0, nullptr);
  s.b = extract_bits(instance.k, s.bit_columns, s.z1, s.z0, &classes->regular);
  return s;
}

}  // namespace subquad::verifiers
