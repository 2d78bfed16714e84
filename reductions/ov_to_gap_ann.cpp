#include "parameter_values.hpp"

#include <subquad/core/count.hpp>
#include <subquad/core/error.hpp>
#include <subquad/reductions/hamming_gadgets.hpp>
#include <subquad/reductions/ov_to_gap_ann.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace subquad::reductions {

using problems::GapAnn;
using problems::OrthogonalVectors;

namespace {

using ByteTable = std::array<std::uint32_t, 256>;

/// Code word -> bits in coordinate order: the leftmost letter of "001" is coordinate 0.
constexpr std::uint32_t in_coordinate_order(std::uint32_t word) {
  return ((word >> 2) & 1U) | (word & 2U) | ((word & 1U) << 2);
}

/// table[byte]: the 24 bits that eight coordinates are expanded to. Coordinate k uses the pair (even0, even1) or (odd0,
/// odd1) of code words by its parity; rows start at even coordinates and words hold 64, so the parity inside a byte is
/// the parity of the coordinate.
constexpr ByteTable expansion(std::uint32_t even0, std::uint32_t even1, std::uint32_t odd0, std::uint32_t odd1) {
  ByteTable table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t bits = 0;
    for (std::uint32_t k = 0; k < 8; ++k) {
      const bool one = ((byte >> k) & 1U) != 0;
      const bool odd = k % 2 != 0;
      bits |= in_coordinate_order(odd ? (one ? odd1 : odd0) : (one ? even1 : even0)) << (3 * k);
    }
    table[byte] = bits;
  }
  return table;
}

constexpr HammingGadget kCode = kOvGadget;
constexpr HammingGadget kMirror = complement(kOvGadget);
constexpr ByteTable kQueries = expansion(kCode.f0, kCode.f1, kCode.f0, kCode.f1);
constexpr ByteTable kKeys = expansion(kCode.g0, kCode.g1, kCode.g0, kCode.g1);
constexpr ByteTable kBalancedQueries = expansion(kCode.f0, kCode.f1, kMirror.f0, kMirror.f1);
constexpr ByteTable kBalancedKeys = expansion(kCode.g0, kCode.g1, kMirror.g0, kMirror.g1);

/// One word of 64 coordinates -> three words of 192.
std::array<std::uint64_t, 3> expand_word(std::uint64_t word, const ByteTable& table) {
  std::array<std::uint64_t, 8> part{};
  for (unsigned k = 0; k < 8; ++k) part[k] = table[(word >> (8 * k)) & 0xffU];
  // Byte k starts at bit 24 k: bytes 2 and 5 straddle the word boundaries 64 and 128.
  return {part[0] | (part[1] << 24) | (part[2] << 48),
          (part[2] >> 16) | (part[3] << 8) | (part[4] << 32) | (part[5] << 56),
          (part[5] >> 8) | (part[6] << 16) | (part[7] << 40)};
}

/// Expands all rows to 3 * dim coordinates, dim >= rows.cols(); the coordinates from rows.cols() on count as 0.
BitMatrix expand(const BitMatrix& rows, std::uint64_t dim, const ByteTable& table, const Execution& execution) {
  BitMatrix result(rows.rows(), 3 * dim);
  const std::uint64_t out_words = result.words_per_row();
  if (out_words == 0) return result;
  const std::uint64_t block = std::max<std::uint64_t>(1, (1 << 14) / out_words);
  parallel_for(execution, rows.rows(), block, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t r = begin; r < end; ++r) {
      const auto in = rows.row(r);
      const auto out = result.row(r);
      for (std::uint64_t w = 0; 3 * w < out_words; ++w) {
        const auto triple = expand_word(w < in.size() ? in[w] : 0, table);
        for (std::uint64_t k = 0; k < 3 && 3 * w + k < out_words; ++k) out[3 * w + k] = triple[k];
      }
      out.back() &= result.last_word_mask();  // code words of 0 are not zero: clear what lies beyond 3 dim
    }
  });
  return result;
}

std::uint64_t used_dim(std::uint64_t dim, bool balanced) {
  return balanced && dim % 2 != 0 ? dim + 1 : dim;
}

}  // namespace

std::vector<ParameterSpec> OvToGapAnn::Parameters::specs() {
  return {{"balanced", "false", "true or false",
           "points with exactly half of their bits set (complement on odd coordinates)"}};
}

OvToGapAnn::Parameters OvToGapAnn::Parameters::parse(const ParameterValues& values) {
  const std::vector<ParameterSpec> table = specs();
  const ParameterReader reader("ov_to_gap_ann", table, values);
  Parameters parameters;
  parameters.balanced = reader.boolean("balanced");
  return parameters;
}

ReductionInfo OvToGapAnn::info() {
  return {"ov_to_gap_ann",
          "ov",
          "gap-ann",
          ReductionKind::many_one,
          "three bits a coordinate: Hamming distance d + 2<a,b>, gap d : d+2, nothing in between",
          "ours",
          "OV.HAM",
          "OV conjecture => GapANN with gap 1 + 2/d is quadratic"};
}

std::vector<SizeBound> OvToGapAnn::size_bounds() const {
  const SizeExpression d = field("dim");
  const SizeExpression used = parameters_.balanced ? 2 * ceil_div(d, 2) : d;
  return {{"num_queries", BoundKind::exact, field("num_a")},
          {"num_keys", BoundKind::exact, field("num_b")},
          {"dim", BoundKind::exact, 3 * used},
          {"r_yes", BoundKind::exact, used},
          {"r_no", BoundKind::exact, used + 2}};
}

GapAnn::Instance OvToGapAnn::reduce(const OrthogonalVectors::Instance& instance, const Execution& execution) const {
  require(instance.a.cols() == instance.b.cols(), ErrorKind::parameter,
          "ov_to_gap_ann: vectors of {} and {} coordinates", instance.a.cols(), instance.b.cols());
  const std::uint64_t dim = used_dim(instance.a.cols(), parameters_.balanced);
  require(checked_mul(3, dim, "ov_to_gap_ann: dimension") < std::uint64_t{1} << 62, ErrorKind::resource,
          "ov_to_gap_ann: {} coordinates are too many", dim);
  const bool balanced = parameters_.balanced;
  GapAnn::Instance target;
  target.queries = expand(instance.a, dim, balanced ? kBalancedQueries : kQueries, execution);
  target.keys = expand(instance.b, dim, balanced ? kBalancedKeys : kKeys, execution);
  target.r_yes = static_cast<std::int64_t>(dim);
  target.r_no = target.r_yes + 2;
  return target;
}

OrthogonalVectors::Answer OvToGapAnn::lift(const OrthogonalVectors::Instance& instance, const GapAnn::Instance& target,
                                           const GapAnn::Answer& answer) const {
  require(answer.near.size() == instance.a.rows(), ErrorKind::input,
          "ov_to_gap_ann: an answer of {} rows, expected one for each of the {} queries", answer.near.size(),
          instance.a.rows());
  const auto flagged = std::find(answer.near.begin(), answer.near.end(), true);
  if (flagged == answer.near.end()) return {};
  const auto row = static_cast<std::uint64_t>(flagged - answer.near.begin());
  const std::optional<std::uint64_t> partner = problems::find_orthogonal_partner(instance, row);
  if (partner) return {std::pair{row, *partner}};

  if (instance.b.rows() == 0)
    throw OracleRefuted(fmt::format("row {} was answered near, but there is no key", row), row);
  std::uint64_t least = inner_product(instance.a.row(row), instance.b.row(0));
  for (std::uint64_t j = 1; j < instance.b.rows(); ++j)
    least = std::min(least, inner_product(instance.a.row(row), instance.b.row(j)));
  throw OracleRefuted(
      fmt::format("row {} was answered near, but its nearest key is at distance {}, far is {} and beyond", row,
                  static_cast<std::uint64_t>(target.r_yes) + 2 * least, target.r_no),
      row);
}

}  // namespace subquad::reductions
