// Low-rank tour: a certified polynomial for exp, a plan with a certain error, a kernel, and a verifier who trusts
// neither.
#include <subquad/attention/low_rank.hpp>
#include <subquad/exact/exp_certification.hpp>
#include <subquad/verifiers/attention_output.hpp>
#include <subquad/verifiers/exp_polynomial.hpp>

#include <cstdio>

int main() {
  using namespace subquad;

  // The least degree for a relative error below 1e-6 on [-2, 2]: both halves are proved by integer arithmetic.
  const exact::ExpProblem problem{exact::ErrorMeasure::relative, -2, 2};
  const exact::Rational epsilon = *exact::parse_rational("1e-6");
  const exact::CertifiedMinimalDegree least = certified_minimal_degree(problem, epsilon);
  verifiers::ExpPolynomialClaim claim;
  claim.problem = problem;
  claim.polynomial = least.approximant.polynomial;
  claim.epsilon = epsilon;
  claim.intervals = least.approximant.intervals;
  claim.lower = verifiers::ExpLowerClaim{least.lower->degree, least.lower->bound, least.lower->points};
  const auto judged = verify_exp_polynomial(claim);
  std::printf("degree %d, the least: %s\n", least.degree(), judged.minimal ? "proved" : "not proved");

  // Attention over 3000 keys within 1e-3, without ever forming a 500 x 3000 matrix.
  problems::Attention::Instance instance;
  instance.q = problems::MatrixD::Random(500, 4);  // entries in [-1, 1]
  instance.k = problems::MatrixD::Random(3000, 4);
  instance.v = problems::MatrixD::Random(3000, 2);
  instance.scale = 0.25;
  instance.entry_bound = 1;
  const auto plan = plan_low_rank(
      low_rank_request(instance, 1e-3, attention::LowRankArithmetic::float64));  // throws if it cannot be kept
  std::printf("plan: degree %d, rank %s, error at most %.2g\n", plan.degree, plan.rank.str().c_str(), plan.error_bound);
  const auto result = low_rank_attention(plan, instance);

  // Proved entry by entry, by code that shares nothing with the kernel.
  const auto report = verifiers::verify_attention_output(instance, result.output, result.error_bound);
  std::printf("within %.2g: %s\n", result.error_bound, to_string(report.verdict).data());
  return judged.minimal && report.verdict == Verdict::certified ? 0 : 1;
}
