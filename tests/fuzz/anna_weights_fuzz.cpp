// The anna-weights format under libFuzzer.
#include "reading.hpp"

#include <subquad/verifiers/anna.hpp>
#include <subquad/verifiers/anna_format.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace subquad;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  verifiers::AnnaWeights weights;
  const auto read = [](const std::string& text) {
    std::istringstream in(text);
    return verifiers::read_anna_weights(in, "fuzz");
  };
  if (!fuzz::accepted([&] { weights = read(bytes); })) return 0;
  std::ostringstream out;
  verifiers::write_anna_weights(out, weights, Provenance{});
  verifiers::AnnaWeights copy;
  if (!fuzz::accepted([&] { copy = read(out.str()); })) fuzz::violated("what is written can be read", out.str());
  if (!(copy == weights)) fuzz::violated("reading what was written gives the same counts", out.str());
  // Small ones are judged as well, on points of a line: whatever the counts, the verdict comes without a fault.
  if (weights.num_queries > 64 || weights.num_keys > 64) return 0;
  problems::MatrixD q(static_cast<Eigen::Index>(weights.num_queries), 1);
  problems::MatrixD k(static_cast<Eigen::Index>(weights.num_keys), 1);
  for (Eigen::Index i = 0; i < q.rows(); ++i) q(i, 0) = 1.0 + static_cast<double>(i);
  for (Eigen::Index j = 0; j < k.rows(); ++j) k(j, 0) = 0.5 + 2.0 * static_cast<double>(j);
  const std::vector<verifiers::AnnaRow> rows = weights.rows();
  if (!fuzz::accepted([&] { (void)verify_anna(q, k, weights.claim, rows); }))
    fuzz::violated("counts that were read can be judged", out.str());
  const problems::MatrixD zero = problems::MatrixD::Zero(q.rows(), 1);
  if (!fuzz::accepted([&] { (void)verifiers::verify_anna_output(k, rows, weights.claim.tables, zero); }))
    fuzz::violated("counts that were read can be averaged", out.str());
  return 0;
}
