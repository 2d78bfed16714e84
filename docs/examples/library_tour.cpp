// Library tour: a formula becomes attention, a kernel runs, the answer comes back, and verifiers check both ends.
#include <subquad/attention/kernel.hpp>
#include <subquad/reductions/cnf_to_ov.hpp>
#include <subquad/reductions/ov_to_attention.hpp>
#include <subquad/sat/cnf.hpp>
#include <subquad/verifiers/attention_output.hpp>
#include <subquad/verifiers/sat_model.hpp>

#include <cmath>
#include <cstdio>

int main() {
  using namespace subquad;

  // (x1 or x2) and (not x1 or x3) and (not x2 or not x3)
  sat::Cnf formula(3);
  formula.add_clause({1, 2});
  formula.add_clause({-1, 3});
  formula.add_clause({-2, -3});

  // Down: every half assignment becomes a vector, every vector a row of Q or K.
  const reductions::CnfToOv to_ov;
  const reductions::OvToAttention to_attention;
  const auto vectors = to_ov.reduce(formula);
  const auto matrices = to_attention.reduce(vectors);
  std::printf("OV: %d x %d vectors; attention: %d queries, %d keys, dimension %d\n",  //
              static_cast<int>(vectors.a.rows()), static_cast<int>(vectors.b.rows()),
              static_cast<int>(matrices.q.rows()), static_cast<int>(matrices.k.rows()),
              static_cast<int>(matrices.q.cols()));

  // The oracle: any kernel that errs by at most eps_a. This one computes in float32.
  const auto output = attention::kernel("exact-f32").run(matrices, {});

  // Is it within eps_a? Proved entry by entry, without trusting the kernel.
  const double tolerance = std::exp(matrices.log_tolerance);
  const auto certificate = verifiers::verify_attention_output(matrices, output.output, tolerance);
  std::printf("kernel output within %.3g: %s\n", tolerance, to_string(certificate.verdict).data());

  // Up: from the rows above 1/2 to an orthogonal pair, from the pair to a model.
  const auto pair = to_attention.lift(vectors, matrices, output);
  const auto answer = to_ov.lift(formula, vectors, pair);
  if (!answer.model) {
    std::printf("unsatisfiable\n");
    return 1;
  }
  const Report report = verifiers::verify_model(formula, *answer.model);
  for (std::uint32_t v = 0; v < formula.num_variables(); ++v)
    std::printf("x%u = %d\n", static_cast<unsigned>(v + 1), static_cast<int>((*answer.model)[v]));
  std::printf("model: %s\n", to_string(report.verdict).data());
  return certificate.verdict == Verdict::certified && report.verdict == Verdict::certified ? 0 : 1;
}
