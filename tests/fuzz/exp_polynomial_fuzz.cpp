// The exp-polynomial format and its verifier under libFuzzer.
#include "reading.hpp"

#include <subquad/verifiers/exp_polynomial.hpp>
#include <subquad/verifiers/exp_polynomial_format.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace subquad;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  verifiers::ExpPolynomialClaim claim;
  const auto read = [](const std::string& text) {
    std::istringstream in(text);
    return verifiers::read_exp_polynomial(in, "fuzz");
  };
  if (!fuzz::accepted([&] { claim = read(bytes); })) return 0;
  std::ostringstream out;
  verifiers::write_exp_polynomial(out, claim, Provenance{});
  verifiers::ExpPolynomialClaim copy;
  if (!fuzz::accepted([&] { copy = read(out.str()); })) fuzz::violated("what is written can be read", out.str());
  if (!(copy == claim)) fuzz::violated("reading what was written gives the same claim", out.str());
  // Small claims are judged as well: whatever the certificate, the verdict comes without a fault.
  if (out.str().size() > 1500 || claim.problem.radius() > 64) return 0;
  verifiers::ExpPolynomialOptions options;
  options.max_bits = 2048;
  options.max_bernstein_cells = 64;
  fuzz::accepted([&] { (void)verify_exp_polynomial(claim, options); });
  return 0;
}
