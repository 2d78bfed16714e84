#include "attention_matrices.hpp"
#include "parameter_values.hpp"

#include <subquad/core/error.hpp>
#include <subquad/reductions/ov_to_attention.hpp>
#include <subquad/reductions/threshold_key.hpp>

namespace subquad::reductions {

namespace {

/// Writes value into row r of `matrix` where `bits` has a one; the rest stays as it is.
void write_ones(const BitMatrix& bits, double value, const Execution& execution, problems::MatrixD& matrix) {
  parallel_for(execution, bits.rows(), kRowBlock, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t r = begin; r < end; ++r)
      for (std::uint64_t c = 0; c < bits.cols(); ++c)
        if (bits.get(r, c)) matrix(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) = value;
  });
}

}  // namespace

std::vector<ParameterSpec> OvToAttention::Parameters::specs() {
  return {{"tolerance", "0.1", "a decimal in (0, 1/2)",
           "eps_a, the additive error that the kernel may have (read exactly)"}};
}

OvToAttention::Parameters OvToAttention::Parameters::parse(const ParameterValues& values) {
  const auto table = specs();
  const ParameterReader reader("ov_to_attention", table, values);
  return {Tolerance(reader.text("tolerance"))};
}

ReductionInfo OvToAttention::info() {
  return {
      .name = "ov_to_attention",
      .source = std::string(Source::kId),
      .target = std::string(Target::kId),
      .kind = ReductionKind::many_one,
      .title = "one threshold key: row i has an orthogonal partner iff output i > 1/2, constant error",
      .citation = "ours (compare AS23, Lemma 4.7)",
      .claim = "SQ.OV",
      .hypothesis = "OV conjecture => no truly subquadratic attention within a constant error for B = Theta(log n)"};
}

std::vector<SizeBound> OvToAttention::size_bounds() const {
  return {{"num_queries", BoundKind::exact, field("num_a")},
          {"num_keys", BoundKind::exact, field("num_b") + 1},
          {"dim", BoundKind::exact, field("dim") + 1},
          {"value_dim", BoundKind::exact, 1}};
}

OvToAttention::Target::Instance OvToAttention::reduce(const Source::Instance& source,
                                                      const Execution& execution) const {
  require(source.a.cols() == source.b.cols(), ErrorKind::parameter, "OV instance has dimensions {} and {}",
          source.a.cols(), source.b.cols());
  // The logit of a pair is -X <a,b>: near is an inner product of 0, far one of at least 1.
  const ThresholdKey key = choose_threshold_key(
      {.near_units = 0, .far_units = -1, .num_keys = source.b.rows(), .dim = source.a.cols()}, parameters_.tolerance);
  const std::uint64_t dim = source.a.cols() + key.num_extra;
  Target::Instance target = zero_attention_instance(source.a.rows(), checked_add(source.b.rows(), 1, "keys"), dim);
  place_threshold_key(key, target);
  target.log_tolerance = parameters_.tolerance.log_lower_bound();
  const ProgressScope progress(execution, "writing queries and keys", source.a.rows() + source.b.rows());
  write_ones(source.a, static_cast<double>(key.unit), execution, target.q);
  write_ones(source.b, -static_cast<double>(key.unit), execution, target.k);
  return target;
}

std::vector<bool> OvToAttention::row_flags(const Target::Instance& target, const Target::Answer& answer) {
  return rows_above_half(target, answer);
}

OvToAttention::Source::Answer OvToAttention::lift(const Source::Instance& source, const Target::Instance& target,
                                                  const Target::Answer& answer) const {
  require_made_from(target, source.a.rows(), source.b.rows() + 1, source.a.cols() + 1);
  const std::vector<bool> flags = row_flags(target, answer);
  for (std::uint64_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) continue;
    const auto partner = problems::find_orthogonal_partner(source, i);
    if (!partner) {
      throw OracleRefuted(
          fmt::format("row {}: output {} > 1/2 claims an orthogonal partner, but none of the {} vectors is "
                      "one, so the true output is below 1/2 - {}",
                      i, answer.output(static_cast<Eigen::Index>(i), 0), source.b.rows(), parameters_.tolerance.text()),
          i);
    }
    return {std::pair(i, *partner)};
  }
  return {};
}

}  // namespace subquad::reductions
