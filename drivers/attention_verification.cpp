#include "attention_verification.hpp"

#include "attention_arrays.hpp"
#include "instance_reading.hpp"
#include "resource_guard.hpp"
#include "size_json.hpp"

#include <subquad/core/error.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/verifiers/attention_output.hpp>

#include <cmath>

namespace subquad::drivers {

namespace {

using Json = nlohmann::ordered_json;
using problems::Attention;

}  // namespace

AttentionVerification verify_attention_output(const Attention::Instance& instance, const problems::MatrixD& output,
                                              double tolerance, bool force, const Execution& execution,
                                              const problems::AttentionMask& mask) {
  check_resources("verifying the output", reference_solver_need(Attention::kId, Attention::size(instance)), force);
  verifiers::AttentionOutputOptions options;
  options.mask = mask;
  const auto found = verifiers::verify_attention_output(instance, output, tolerance, options, execution);
  AttentionVerification result;
  result.report.verdict = found.verdict;
  result.evidence = {{"tolerance", tolerance},
                     {"scale", instance.scale},
                     {"rows_checked", found.rows_checked},
                     {"entries_by_double", found.entries_by_double},
                     {"entries_by_mpfr", found.entries_by_mpfr},
                     {"largest_error_bound", number_json(found.largest_error_bound)},
                     {"findings", Json::array()}};
  if (mask.causal) result.evidence["causal_offset"] = mask.offset;
  for (const auto& finding : found.findings)
    result.evidence["findings"].push_back({{"row", finding.row},
                                           {"column", finding.column},
                                           {"candidate", number_json(finding.candidate)},
                                           {"truth", {number_json(finding.truth.low), number_json(finding.truth.high)}},
                                           {"verdict", to_string(finding.verdict)}});
  if (found.verdict == Verdict::certified) {
    result.report.reason = fmt::format("all {} x {} entries are within {:g} of attention (proved error <= {:.3g})",
                                       output.rows(), output.cols(), tolerance, found.largest_error_bound);
    return result;
  }
  for (const auto& finding : found.findings) {
    if (finding.verdict != found.verdict) continue;
    result.report.reason =
        fmt::format("row {}, column {}: output {:.17g}, exact value in [{:.17g}, {:.17g}] (proved), tolerance {:g}",
                    finding.row, finding.column, finding.candidate, finding.truth.low, finding.truth.high, tolerance);
    return result;
  }
  result.report.reason = "some entries could not be decided at the highest precision";
  return result;
}

AttentionVerification verify_attention_answer(const std::vector<std::string>& files,
                                              const AttentionVerificationOptions& options, VerbCommand& command) {
  require(!options.scale, ErrorKind::parameter, "--scale: an .attention file holds its own scale");
  require(!(files[0] == "-" && files[1] == "-"), ErrorKind::parameter,
          "verify: instance and answer cannot both be standard input");
  const auto& problem = reductions::problem(Attention::kId);
  InputSource instance_file(files[0]);
  const reductions::AnyInstance instance = read_any_instance(problem, instance_file, command);
  InputSource answer_file(files[1]);
  const reductions::AnyAnswer answer = read_any_answer(problem, instance, answer_file, command);
  const auto& matrices = std::any_cast<const Attention::Instance&>(instance.value);
  const double tolerance = options.tolerance.value_or(std::exp(matrices.log_tolerance));
  require(options.tolerance || tolerance > 0, ErrorKind::unsupported,
          "{}: eps_a = e^({}) is below every double; give --tolerance", files[0], matrices.log_tolerance);
  return verify_attention_output(matrices, std::any_cast<const Attention::Answer&>(answer.value).output, tolerance,
                                 options.force, command.execution(), options.mask);
}

AttentionVerification verify_attention_arrays(const std::vector<std::string>& files,
                                              const AttentionVerificationOptions& options, VerbCommand& command) {
  require(options.tolerance.has_value(), ErrorKind::parameter, "verify attention Q K V OUT: expected --tolerance T");
  const Attention::Instance instance = read_attention_arrays(files[0], files[1], files[2], options.scale);
  const problems::MatrixD output = read_array(files[3], io::NpyVector::as_column);
  return verify_attention_output(instance, output, *options.tolerance, options.force, command.execution(),
                                 options.mask);
}

}  // namespace subquad::drivers
