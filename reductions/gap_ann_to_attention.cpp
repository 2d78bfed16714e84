#include "attention_matrices.hpp"
#include "gap_thresholds.hpp"
#include "hamming_ball.hpp"
#include "parameter_values.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/reductions/as23_parameters.hpp>
#include <subquad/reductions/gap_ann_to_attention.hpp>
#include <subquad/reductions/threshold_key.hpp>

#include <algorithm>
#include <cmath>

namespace subquad::reductions {

namespace {

using problems::Attention;
using problems::GapAnn;
using problems::MatrixD;

/// The points of one side with the padding coordinate, as bits.
struct Points {
  const BitMatrix& bits;
  std::uint64_t dim;
  bool padding;

  bool operator()(std::uint64_t row, std::uint64_t c) const { return c < bits.cols() ? bits.get(row, c) : padding; }
};

Points query_points(const GapAnn::Instance& source, const GapThresholds& gap) {
  return {source.queries, gap.dim, gap.differs};
}
Points key_points(const GapAnn::Instance& source, const GapThresholds& gap) {
  return {source.keys, gap.dim, false};
}

/// Writes rows of `points`, mapped by write(row, coordinate, bit, matrix).
template <class Write>
void write_rows(const Points& points, const Execution& execution, MatrixD& matrix, Write write) {
  parallel_for(execution, points.bits.rows(), kRowBlock, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t r = begin; r < end; ++r)
      for (std::uint64_t c = 0; c < points.dim; ++c)
        write(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c), points(r, c), matrix);
  });
}

LogitGap logit_gap(const GapThresholds& gap, std::uint64_t num_keys) {
  // <2a - 1, 2b - 1> = dim - 2 dist.
  const auto dim = static_cast<std::int64_t>(gap.dim);
  return {.near_units = dim - 2 * gap.r_yes, .far_units = dim - 2 * gap.r_no, .num_keys = num_keys, .dim = gap.dim};
}

Attention::Instance reduce_refined(const GapAnn::Instance& source, const Tolerance& tolerance,
                                   const Execution& execution) {
  const GapThresholds gap = normalized_thresholds(source);
  const ThresholdKey key = choose_threshold_key(logit_gap(gap, source.keys.rows()), tolerance);
  Attention::Instance target = zero_attention_instance(
      source.queries.rows(), checked_add(source.keys.rows(), 1, "keys"), gap.dim + key.num_extra);
  place_threshold_key(key, target);
  target.log_tolerance = tolerance.log_lower_bound();
  const double unit = key.unit;
  const auto signs = [unit](Eigen::Index r, Eigen::Index c, bool bit, MatrixD& m) { m(r, c) = bit ? unit : -unit; };
  write_rows(query_points(source, gap), execution, target.q, signs);
  write_rows(key_points(source, gap), execution, target.k, signs);
  return target;
}

As23Parameters paper_numbers(const GapAnn::Instance& source) {
  const GapThresholds gap = normalized_thresholds(source);
  return as23_parameters(source.keys.rows(), gap.dim, gap.r_yes, gap.r_no);
}

Attention::Instance reduce_paper(const GapAnn::Instance& source, const Execution& execution) {
  const GapThresholds gap = normalized_thresholds(source);
  const As23Parameters numbers = paper_numbers(source);
  const std::uint64_t dim = 2 * numbers.balanced_dim;
  Attention::Instance target = zero_attention_instance(checked_mul(2, source.queries.rows(), "queries"),
                                                       checked_mul(2, numbers.num_keys, "keys"), dim);
  const double unit = numbers.unit;
  target.scale = numbers.scale;
  target.entry_bound = std::max(1.0, unit);
  target.log_tolerance = numbers.log_tolerance;
  const auto d = static_cast<Eigen::Index>(gap.dim);
  const auto balanced_dim = static_cast<Eigen::Index>(numbers.balanced_dim);
  // (x, 1 - x): exactly d ones, distances doubled.
  const auto balanced = [unit, d](Eigen::Index r, Eigen::Index c, bool bit, MatrixD& m) {
    m(r, bit ? c : d + c) = unit;
  };
  const auto num_queries = static_cast<Eigen::Index>(source.queries.rows());
  const auto num_keys = static_cast<Eigen::Index>(source.keys.rows());
  write_rows(query_points(source, gap), execution, target.q, balanced);
  if (num_queries > 0) target.q.topRightCorner(num_queries, balanced_dim).setConstant(unit);  // Eigen: no empty blocks
  write_rows(key_points(source, gap), execution, target.k, balanced);
  Eigen::Index real_keys = num_keys;
  if (num_keys == 1) {  // n = 1 stands for the same key twice
    target.k.row(1) = target.k.row(0);
    real_keys = 2;
  }
  target.v.topRows(real_keys).setOnes();
  target.k.bottomRightCorner(target.k.rows() - real_keys, balanced_dim).setConstant(unit);
  return target;
}

/// Row i of an answer in the log domain: above, below, or around the threshold.
GapAnn::Answer lift_paper(const GapAnn::Instance& source, const Attention::Instance& target,
                          const Attention::Answer& answer) {
  const As23Parameters numbers = paper_numbers(source);
  const std::uint64_t num_queries = source.queries.rows();
  require_made_from(target, 2 * num_queries, 2 * numbers.num_keys, 2 * numbers.balanced_dim);
  GapAnn::Answer result;
  result.near.assign(num_queries, false);
  if (num_queries == 0) return result;
  require(!answer.log_column.empty(), ErrorKind::unsupported,
          "mode paper needs an oracle that encloses ln u_i (a rigorous or log-domain kernel): the allowed error is "
          "e^({:.6g}), and no double holds a positive number below e^(-745)",
          numbers.log_tolerance);
  require(answer.log_column.size() == 2 * num_queries, ErrorKind::parameter, "{} log enclosures for {} queries",
          answer.log_column.size(), 2 * num_queries);
  const double threshold_low = numbers.log_threshold.low();
  const double threshold_high = numbers.log_threshold.high();
  for (std::uint64_t i = 0; i < num_queries; ++i) {
    const Attention::LogEnclosure& u = answer.log_column[i];
    if (!(u.log_low <= u.log_high)) {  // also true for NaN
      throw OracleRefuted(fmt::format("row {}: [{}, {}] encloses no logarithm", i, u.log_low, u.log_high), i);
    }
    if (u.log_low >= threshold_high) {
      result.near[i] = true;
    } else if (!(u.log_high < threshold_low)) {
      const auto query = source.queries.row(i);
      std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
      for (std::uint64_t j = 0; j < source.keys.rows(); ++j)
        nearest = std::min(nearest, static_cast<std::int64_t>(hamming_distance(query, source.keys.row(j))));
      require(
          source.r_yes < nearest && nearest < source.r_no, ErrorKind::undecided,
          "row {}: ln u_i is in [{:.17g}, {:.17g}], around the threshold {:.17g}: ask the oracle for more precision", i,
          u.log_low, u.log_high, threshold_low);
    }
  }
  return result;
}

}  // namespace

std::vector<ParameterSpec> GapAnnToAttention::Parameters::specs() {
  return {{"mode", "refined", "refined|paper",
           "refined: one threshold key and constant error, ours; paper: AS23 Lemma 4.7 with its constants"},
          {"tolerance", "0.1", "a decimal in (0, 1/2)",
           "mode refined: eps_a, the error that the kernel may have (read exactly)"},
          {"small_t_constant", "0.25", "a real number >= 0",
           "mode paper: points within r_yes are enumerated, without an oracle, when 2 r_yes + 1 < this times ln n"}};
}

GapAnnToAttention::Parameters GapAnnToAttention::Parameters::parse(const ParameterValues& values) {
  const auto table = specs();
  const ParameterReader reader("gap_ann_to_attention", table, values);
  Parameters result;
  const std::string& mode = reader.text("mode");
  if (mode != "refined" && mode != "paper") reader.refuse("mode");
  result.mode = mode == "paper" ? Mode::paper : Mode::refined;
  const std::string_view ignored = result.mode == Mode::paper ? "tolerance" : "small_t_constant";
  require(values.count(std::string(ignored)) == 0, ErrorKind::parameter,
          "gap_ann_to_attention: {} has no meaning in mode {}{}", ignored, mode,
          result.mode == Mode::paper ? ", which fixes eps_a = n^-C_a" : "");
  result.tolerance = Tolerance(reader.text("tolerance"));
  const std::optional<double> constant = parse_real(reader.text("small_t_constant"));
  if (!constant || !(*constant >= 0)) reader.refuse("small_t_constant");
  result.small_t_constant = *constant;
  return result;
}

GapAnnToAttention::GapAnnToAttention(Parameters parameters) : parameters_(std::move(parameters)) {
  require(std::isfinite(parameters_.small_t_constant) && parameters_.small_t_constant >= 0, ErrorKind::parameter,
          "small_t_constant = {}, expected a real number >= 0", parameters_.small_t_constant);
}

ReductionInfo GapAnnToAttention::info() {
  return {.name = "gap_ann_to_attention",
          .source = std::string(Source::kId),
          .target = std::string(Target::kId),
          .kind = ReductionKind::many_one,
          .title = "near rows exceed a threshold: one threshold key and constant error (refined), or AS23's (paper)",
          .citation = "AS23, Lemma 4.7 (mode paper); ours (mode refined)",
          .claim = "SQ.GAP",
          .hypothesis = "SETH => no truly subquadratic attention for B = Theta(sqrt(log n)) (through GapANN)"};
}

std::vector<SizeBound> GapAnnToAttention::size_bounds() const {
  const SizeExpression queries = field("num_queries");
  const SizeExpression keys = field("num_keys");
  // One coordinate more if dim = 0 or r_no = 0: normalized_thresholds().
  const SizeExpression dim = max(max(field("dim"), 1), field("dim") + monus(1, field("r_no")));
  if (parameters_.mode == Mode::paper) {
    return {{"num_queries", BoundKind::exact, 2 * queries},
            {"num_keys", BoundKind::exact, 2 * max(keys, 2)},
            {"dim", BoundKind::exact, 4 * dim},
            {"value_dim", BoundKind::exact, 1}};
  }
  // Extra coordinates: at most max(1, r_yes + r_no - d, d - 2 r_yes) for thresholds cut to the range of distances.
  // Uncut ones give no less: a larger r_no only helps, and r_yes beyond d makes the third term negative either way.
  const SizeExpression extra =
      max(max(1, monus(field("r_yes") + max(field("r_no"), 1), dim)), monus(dim, 2 * field("r_yes")));
  return {{"num_queries", BoundKind::exact, queries},
          {"num_keys", BoundKind::exact, keys + 1},
          {"dim", BoundKind::upper_bound, dim + extra},
          {"value_dim", BoundKind::exact, 1}};
}

GapAnnToAttention::Target::Instance GapAnnToAttention::reduce(const Source::Instance& source,
                                                              const Execution& execution) const {
  const ProgressScope progress(execution, "writing queries and keys", source.queries.rows() + source.keys.rows());
  return parameters_.mode == Mode::paper ? reduce_paper(source, execution)
                                         : reduce_refined(source, parameters_.tolerance, execution);
}

std::vector<bool> GapAnnToAttention::row_flags(const Target::Instance& target, const Target::Answer& answer) {
  return rows_above_half(target, answer);
}

GapAnnToAttention::Source::Answer GapAnnToAttention::lift(const Source::Instance& source,
                                                          const Target::Instance& target,
                                                          const Target::Answer& answer) const {
  if (parameters_.mode == Mode::paper) return lift_paper(source, target, answer);
  const GapThresholds gap = normalized_thresholds(source);
  const ThresholdKey key = choose_threshold_key(logit_gap(gap, source.keys.rows()), parameters_.tolerance);
  require_made_from(target, source.queries.rows(), source.keys.rows() + 1, gap.dim + key.num_extra);
  return {row_flags(target, answer)};
}

GapAnnToAttention::Source::Answer GapAnnToAttention::solve(const Source::Instance& source, const Oracle<Target>& oracle,
                                                           const Execution& execution) const {
  if (parameters_.mode == Mode::paper) {
    normalized_thresholds(source);  // refuses a malformed source
    // Either branch is exact, so that rounding here decides about time only.
    const double log_n = std::log(static_cast<double>(std::max<std::uint64_t>(source.keys.rows(), 2)));
    if (2.0 * static_cast<double>(source.r_yes) + 1.0 < parameters_.small_t_constant * log_n)
      return {near_rows_by_enumeration(source, kMaxBallPoints, execution)};
  }
  const Target::Instance target = reduce(source, execution);
  return lift(source, target, oracle(target));
}

}  // namespace subquad::reductions
