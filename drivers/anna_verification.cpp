#include "anna_verification.hpp"

#include "attention_arrays.hpp"
#include "resource_guard.hpp"
#include "size_json.hpp"

#include <subquad/core/error.hpp>

#include <fmt/format.h>

namespace subquad::drivers {

using problems::MatrixD;
using verifiers::AnnaClaim;
using verifiers::AnnaReport;
using verifiers::AnnaRow;

namespace {

std::string summary(const AnnaReport& found) {
  if (found.verdict == Verdict::certified) {
    return fmt::format(
        "all {} rows: {} pairs within r, each with enough weight; none beyond c r has any; {} rows are empty",
        found.rows_checked, found.near_pairs, found.empty_rows);
  }
  return fmt::format("row {}: {}; in all {} false, {} missed, {} light pairs, {} empty rows", found.findings[0].row,
                     found.findings[0].reason, found.false_pairs, found.missed_pairs, found.light_pairs,
                     found.empty_rows);
}

nlohmann::ordered_json evidence(const AnnaClaim& claim, const AnnaReport& found) {
  nlohmann::ordered_json json = {{"metric", to_string(claim.metric)},
                                 {"radius", claim.radius},
                                 {"ratio", claim.ratio},
                                 {"tables", count_json(Count(claim.tables))},
                                 {"convention", claim.strict ? "strict" : "zero"},
                                 {"rows", found.rows_checked},
                                 {"near_pairs", found.near_pairs},
                                 {"false_pairs", found.false_pairs},
                                 {"missed_pairs", found.missed_pairs},
                                 {"light_pairs", found.light_pairs},
                                 {"empty_rows", found.empty_rows},
                                 {"exact_distances", found.exact_distances},
                                 {"findings", nlohmann::ordered_json::array()}};
  for (const verifiers::AnnaFinding& finding : found.findings) {
    json["findings"].push_back({{"row", finding.row}, {"reason", finding.reason}});
  }
  return json;
}

}  // namespace

AnnaVerification verify_anna_counts(const MatrixD& q, const MatrixD& k, const AnnaClaim& claim,
                                    const std::vector<AnnaRow>& rows, bool force, const Execution& execution) {
  ResourceNeed need;
  need.operations = Count(q.rows()) * k.rows() * q.cols();
  need.operation_name = "multiply-adds";
  check_resources("verifying every distance", need, force);
  const AnnaReport found = verify_anna(q, k, claim, rows, execution);
  return {{found.verdict, summary(found)}, evidence(claim, found)};
}

AnnaVerification verify_anna_counts_and_output(const MatrixD& q, const MatrixD& k, const MatrixD& v,
                                               const AnnaClaim& claim, const std::vector<AnnaRow>& rows,
                                               const MatrixD& output, bool force, const Execution& execution) {
  AnnaVerification result = verify_anna_counts(q, k, claim, rows, force, execution);
  const Report means = verifiers::verify_anna_output(v, rows, claim.tables, output, execution);
  result.report.verdict = combine(result.report.verdict, means.verdict);
  result.report.reason += "; output: " + means.reason;
  result.evidence["output"] = {{"verdict", to_string(means.verdict)}, {"reason", means.reason}};
  return result;
}

AnnaVerification verify_anna_files(const std::vector<std::string>& files, const AnnaVerificationOptions& options,
                                   VerbCommand& command) {
  require(files.size() == 3 || files.size() == 5, ErrorKind::parameter,
          "verify anna: {} files given, expected Q K WEIGHTS, or Q K V OUT WEIGHTS", files.size());
  InputSource file(files.back());
  verifiers::AnnaWeights weights = verifiers::read_anna_weights(file.stream(), files.back());
  const MatrixD q = read_array(files[0], io::NpyVector::refuse);
  const MatrixD k = read_array(files[1], io::NpyVector::refuse);
  require(weights.num_queries == static_cast<std::uint64_t>(q.rows()) &&
              weights.num_keys == static_cast<std::uint64_t>(k.rows()),
          ErrorKind::parameter, "{}: counts of {} queries over {} keys, but Q has {} rows and K {}", files.back(),
          weights.num_queries, weights.num_keys, q.rows(), k.rows());
  if (options.radius) weights.claim.radius = *options.radius;
  if (options.ratio) weights.claim.ratio = *options.ratio;
  weights.claim.strict = weights.claim.strict || options.strict;
  const std::vector<AnnaRow> rows = weights.rows();
  if (files.size() == 3) return verify_anna_counts(q, k, weights.claim, rows, options.force, command.execution());
  const MatrixD v = read_array(files[2], io::NpyVector::as_column);
  require(v.rows() == k.rows(), ErrorKind::parameter, "verify anna: V has {} rows, expected {}", v.rows(), k.rows());
  return verify_anna_counts_and_output(q, k, v, weights.claim, rows, read_array(files[3], io::NpyVector::as_column),
                                       options.force, command.execution());
}

}  // namespace subquad::drivers
