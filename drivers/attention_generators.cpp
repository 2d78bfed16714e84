// Attention families of `subquad gen`: random matrices, and the instance that a formula's chain builds.
#include "chain_plan.hpp"
#include "generators.hpp"
#include "input_source.hpp"

#include <subquad/attention/kernel.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/sat/dimacs.hpp>

#include <cmath>
#include <memory>

namespace subquad::drivers {

namespace {

using problems::Attention;

/// Where entries lie. In every layout they are within [-B, B].
enum class Layout {
  random,     ///< uniform
  clustered,  ///< a few centres, and noise of a tenth of B around them
  extremal,   ///< +-B, signs at random
  opposed     ///< queries +B, keys -B: every logit is -scale d B^2
};

struct RandomAttention {
  Layout layout = Layout::random;
  std::uint64_t num_queries = 0;
  std::optional<std::uint64_t> num_keys;
  std::uint64_t dim = 0;
  std::uint64_t value_dim = 1;
  double bound = 1.0;
  double tolerance = 1e-3;
  std::optional<double> scale;
};

constexpr std::uint64_t kClusters = 8;

problems::MatrixD uniform_matrix(std::uint64_t rows, std::uint64_t cols, double bound, Random random) {
  problems::MatrixD matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = bound * (2.0 * random.unit() - 1.0);
  return matrix;
}

problems::MatrixD sign_matrix(std::uint64_t rows, std::uint64_t cols, double bound, Random random) {
  problems::MatrixD matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.bernoulli(0.5) ? bound : -bound;
  return matrix;
}

problems::MatrixD clustered_matrix(std::uint64_t rows, std::uint64_t cols, double bound, const Random& random) {
  const problems::MatrixD centres = uniform_matrix(kClusters, cols, 0.9 * bound, random.split("centres"));
  problems::MatrixD matrix = uniform_matrix(rows, cols, 0.1 * bound, random.split("noise"));
  Random choice = random.split("choice");
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    matrix.row(i) += centres.row(static_cast<Eigen::Index>(choice.below(kClusters)));
  return matrix;
}

/// Queries (+1) or keys (-1).
problems::MatrixD layout_matrix(Layout layout, int side, std::uint64_t rows, std::uint64_t cols, double bound,
                                const Random& random) {
  switch (layout) {
    case Layout::clustered:
      return clustered_matrix(rows, cols, bound, random);
    case Layout::extremal:
      return sign_matrix(rows, cols, bound, random);
    case Layout::opposed:
      return problems::MatrixD::Constant(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols),
                                         side * bound);
    case Layout::random:
      break;
  }
  return uniform_matrix(rows, cols, bound, random);
}

GeneratedInstance random_attention(const RandomAttention& options, std::uint64_t seed, bool force) {
  const std::uint64_t num_keys = options.num_keys.value_or(options.num_queries);
  ResourceNeed need;
  need.bytes = instance_bytes(Attention::kId, {{"num_queries", options.num_queries},
                                               {"num_keys", num_keys},
                                               {"dim", options.dim},
                                               {"value_dim", options.value_dim}});
  check_resources("generating the matrices", need, force);
  Attention::Instance instance;
  const Random random(seed);
  instance.q = layout_matrix(options.layout, 1, options.num_queries, options.dim, options.bound, random.split("q"));
  instance.k = layout_matrix(options.layout, -1, num_keys, options.dim, options.bound, random.split("k"));
  instance.v = options.layout == Layout::extremal
                   ? sign_matrix(num_keys, options.value_dim, options.bound, random.split("v"))
                   : uniform_matrix(num_keys, options.value_dim, options.bound, random.split("v"));
  instance.scale = options.scale.value_or(1.0 / static_cast<double>(std::max<std::uint64_t>(1, options.dim)));
  instance.entry_bound = options.bound;
  instance.log_tolerance = std::log(options.tolerance);
  problems::validate(instance);
  return {{std::string(Attention::kId), std::move(instance)}, std::nullopt, {}, {}, {}};
}

void add_matrix_family(CLI::App& kind, std::vector<Family>& families, Layout layout, const char* name,
                       const char* description) {
  auto options = std::make_shared<RandomAttention>();
  options->layout = layout;
  CLI::App* app = kind.add_subcommand(name, description);
  app->add_option("-n,--num-queries", options->num_queries, "Queries")->required();
  app->add_option("--num-keys", options->num_keys, "Keys (default: as many)");
  app->add_option("-d,--dim", options->dim, "Dimension of queries and keys")->required();
  app->add_option("--value-dim", options->value_dim, "Columns of the values")->capture_default_str();
  app->add_option("-B,--bound", options->bound, "Bound of the entries")
      ->check(CLI::Range(0.0, 1e150))
      ->capture_default_str();
  app->add_option("--tolerance", options->tolerance, "eps_a")->check(CLI::Range(1e-300, 1e300))->capture_default_str();
  app->add_option("--scale", options->scale, "Factor of the logits (default: 1/dim, AS23's)");
  families.push_back({"attention", app,
                      [options](std::uint64_t seed, bool force) { return random_attention(*options, seed, force); }});
}

}  // namespace

void add_attention_families(CLI::App& gen, std::vector<Family>& families) {
  CLI::App* kind = gen.add_subcommand("attention", "Attention instances (.attention)");
  kind->require_subcommand(1);
  add_matrix_family(*kind, families, Layout::random, "random", "Entries uniform in [-B, B]");
  add_matrix_family(*kind, families, Layout::clustered, "clustered", "Queries and keys around a few centres");
  add_matrix_family(*kind, families, Layout::extremal, "extremal", "Entries +-B, signs at random");
  add_matrix_family(*kind, families, Layout::opposed, "opposed",
                    "Queries +B, keys -B: every logit as small as it can be");

  struct FromCnf {
    std::string file;
    std::string via = "direct";
    std::string tolerance = "0.1";
  };
  auto from = std::make_shared<FromCnf>();
  CLI::App* app = kind->add_subcommand("from-cnf", "The instance that 'subquad chain' hands to the kernel");
  app->add_option("FILE", from->file, "DIMACS CNF; -: standard input")->required();
  app->add_option("--via", from->via, "Route")->check(CLI::IsMember({"direct", "gap-ann"}))->capture_default_str();
  app->add_option("--tolerance", from->tolerance, "eps_a, in (0, 1/2)")->capture_default_str();
  families.push_back(
      {"attention", app, [from](std::uint64_t, bool force) {
         InputSource input(from->file);
         sat::DimacsFile file = sat::read_dimacs(input.stream(), from->file);
         const sat::Cnf& formula = file.formula;
         ChainOptions options;
         options.via = from->via == "direct" ? Via::direct : Via::gap_ann;
         options.tolerance = from->tolerance;
         const attention::Kernel& kernel = attention::kernel("exact");
         const ChainPlan plan = plan_chain(formula, options, kernel);
         ResourceNeed need;
         need.bytes = plan.kernel.bytes;
         check_resources("building the attention instance", need, force);
         const auto instances = reduce_along(chain_path(options, kernel), {std::string(sat::CnfSat::kId), formula}, {});
         return GeneratedInstance{instances.back(), std::nullopt, {}, std::move(file.liberties), provenance({}, input)};
       }});
}

}  // namespace subquad::drivers
