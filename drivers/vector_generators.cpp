// OV and GapANN families of `subquad gen`: at the threshold, planted, without a pair, from a formula, tight.
#include "generators.hpp"
#include "input_source.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/problems/random_gap_ann.hpp>
#include <subquad/problems/random_orthogonal_vectors.hpp>
#include <subquad/reductions/cnf_to_ov.hpp>
#include <subquad/sat/dimacs.hpp>

#include <memory>

namespace subquad::drivers {

namespace {

using problems::GapAnn;
using problems::OrthogonalVectors;

template <class P>
GeneratedInstance erased(problems::Generated<P> generated, std::string note = {}) {
  GeneratedInstance result{{std::string(P::kId), std::move(generated.instance)}, std::nullopt, std::move(note), {}, {}};
  if (generated.known) result.known = reductions::AnyAnswer{std::string(P::kId), std::move(*generated.known)};
  return result;
}

struct VectorOptions {
  problems::OrthogonalVectorsShape shape;
  std::optional<std::uint64_t> num_b;
  double mean = 1.0;
  std::optional<double> density;
  std::optional<std::uint64_t> weight;
  std::string model = "constant-weight";
  std::uint64_t order = 2;
  bool guard = false;

  void add_shape(CLI::App& app) {
    app.add_option("-n,--num-a", shape.num_a, "Vectors on the left")->required();
    app.add_option("--num-b", num_b, "Vectors on the right (default: as many)");
    app.add_option("-d,--dim", shape.dim, "Dimension")->required();
  }
  CLI::Option* add_mean(CLI::App& app) {
    return app.add_option("--mean", mean, "Expected number of orthogonal pairs")->capture_default_str();
  }
  problems::OrthogonalVectorsShape checked_shape(bool force) const {
    problems::OrthogonalVectorsShape result = shape;
    result.num_b = num_b.value_or(shape.num_a);
    ResourceNeed need;
    need.bytes =
        instance_bytes(OrthogonalVectors::kId, {{"num_a", result.num_a}, {"num_b", result.num_b}, {"dim", result.dim}});
    need.operations = (Count(result.num_a) + result.num_b) * result.dim;
    need.operation_name = "coordinates";
    check_resources("generating the vectors", need, force);
    return result;
  }
  double density_for(const problems::OrthogonalVectorsShape& s) const {
    return density ? *density : problems::iid_threshold_density(s, mean);
  }
  problems::ConstantWeights weights_for(const problems::OrthogonalVectorsShape& s) const {
    if (!weight) return problems::constant_weights_for(s, mean);
    problems::ConstantWeights weights;
    weights.weight = *weight;
    return weights;
  }
};

std::string weights_note(const problems::OrthogonalVectorsShape& shape, const problems::ConstantWeights& weights) {
  return fmt::format("weight {} ({} a and {} b one heavier), expected pairs {:.4g}", weights.weight,
                     weights.num_a_heavier, weights.num_b_heavier,
                     problems::constant_weight_expected_pairs(shape, weights).convert_to<double>());
}

void add_random_vectors(CLI::App& kind, std::vector<Family>& families) {
  auto iid = std::make_shared<VectorOptions>();
  CLI::App* app =
      kind.add_subcommand("iid", "Every coordinate one with the same probability (hard for dim >= 4 log2 n)");
  iid->add_shape(*app);
  app->add_option("--density", iid->density, "Probability of a one, instead of --mean")->excludes(iid->add_mean(*app));
  families.push_back({"ov", app, [iid](std::uint64_t seed, bool force) {
                        const auto shape = iid->checked_shape(force);
                        const double density = iid->density_for(shape);
                        Random random(seed);
                        return erased(problems::random_iid_vectors(shape, density, random),
                                      fmt::format("density {:.6g}, expected pairs {:.4g}", density,
                                                  problems::iid_expected_pairs(shape, density)));
                      }});

  auto weight = std::make_shared<VectorOptions>();
  app = kind.add_subcommand("constant-weight",
                            "Uniform vectors of one weight (recommended: no light vector gives a short cut)");
  weight->add_shape(*app);
  app->add_option("--weight", weight->weight, "Ones a vector, instead of --mean")->excludes(weight->add_mean(*app));
  families.push_back({"ov", app, [weight](std::uint64_t seed, bool force) {
                        const auto shape = weight->checked_shape(force);
                        const auto weights = weight->weights_for(shape);
                        Random random(seed);
                        return erased(problems::random_constant_weight_vectors(shape, weights, random),
                                      weights_note(shape, weights));
                      }});

  auto planted = std::make_shared<VectorOptions>();
  app = kind.add_subcommand("planted", "With one planted orthogonal pair, which goes into OUT.answer");
  planted->add_shape(*app);
  app->add_option("--model", planted->model, "constant-weight or iid")
      ->check(CLI::IsMember({"constant-weight", "iid"}))
      ->capture_default_str();
  planted->mean = 0.01;  // so that the planted pair is most likely the only one
  planted->add_mean(*app);
  families.push_back({"ov", app, [planted](std::uint64_t seed, bool force) {
                        const auto shape = planted->checked_shape(force);
                        Random random(seed);
                        if (planted->model == "iid")
                          return erased(problems::planted_iid_vectors(shape, planted->density_for(shape), random));
                        const auto weights = planted->weights_for(shape);
                        return erased(problems::planted_constant_weight_vectors(shape, weights, random),
                                      weights_note(shape, weights));
                      }});
}

void add_certain_vectors(CLI::App& kind, std::vector<Family>& families) {
  auto none = std::make_shared<VectorOptions>();
  CLI::App* app = kind.add_subcommand(
      "no", "Certainly without an orthogonal pair: a hidden projective plane, or a guard coordinate");
  none->add_shape(*app);
  app->add_option("--order", none->order, "Prime order of the plane, order^2 + order + 1 <= dim")
      ->capture_default_str();
  app->add_option("--weight", none->weight, "Ones a vector (default: about a third of dim)");
  app->add_flag("--guard", none->guard, "The trivial kind: one coordinate set in every vector");
  families.push_back({"ov", app, [none](std::uint64_t seed, bool force) {
                        const auto shape = none->checked_shape(force);
                        Random random(seed);
                        if (none->guard) return erased(problems::guarded_vectors(shape, 1.0 / 3.0, random));
                        const std::uint64_t weight = none->weight.value_or(std::max(none->order + 1, shape.dim / 3));
                        return erased(problems::projective_plane_vectors(shape, none->order, weight, random));
                      }});

  struct FromCnf {
    std::string file;
    std::optional<std::uint64_t> left_variables;
  };
  auto from = std::make_shared<FromCnf>();
  app =
      kind.add_subcommand("from-cnf", "The split-and-list vectors of a formula, as 'subquad reduce cnf ov' makes them");
  app->add_option("FILE", from->file, "DIMACS CNF; -: standard input")->required();
  app->add_option("--left-variables", from->left_variables, "Variables on the left (default: half, rounded up)");
  families.push_back({"ov", app, [from](std::uint64_t, bool force) {
                        InputSource input(from->file);
                        sat::DimacsFile file = sat::read_dimacs(input.stream(), from->file);
                        const sat::Cnf& formula = file.formula;
                        reductions::CnfToOv::Parameters parameters;
                        parameters.left_variables = from->left_variables;
                        const reductions::CnfToOv reduction(parameters);
                        ResourceNeed need;
                        need.bytes = instance_bytes(OrthogonalVectors::kId,
                                                    planned_sizes(reduction.size_bounds(), sat::CnfSat::size(formula)));
                        check_resources("listing the vectors", need, force);
                        return GeneratedInstance{{std::string(OrthogonalVectors::kId), reduction.reduce(formula)},
                                                 std::nullopt,
                                                 {},
                                                 std::move(file.liberties),
                                                 provenance({}, input)};
                      }});
}

struct GapOptions {
  problems::GapAnnShape shape;
  std::optional<std::uint64_t> num_keys;
  std::uint64_t num_near = 1;

  void add_to(CLI::App& app) {
    app.add_option("-n,--num-queries", shape.num_queries, "Queries")->required();
    app.add_option("--num-keys", num_keys, "Keys (default: as many)");
    app.add_option("-d,--dim", shape.dim, "Dimension")->required();
    app.add_option("--r-yes", shape.r_yes, "Largest near distance")->required();
    app.add_option("--r-no", shape.r_no, "Smallest far distance")->required();
    app.add_option("--num-near", num_near, "Near queries")->capture_default_str();
  }
  problems::GapAnnShape checked_shape(bool force) const {
    problems::GapAnnShape result = shape;
    result.num_keys = num_keys.value_or(shape.num_queries);
    ResourceNeed need;
    need.bytes = instance_bytes(
        GapAnn::kId, {{"num_queries", result.num_queries}, {"num_keys", result.num_keys}, {"dim", result.dim}});
    check_resources("generating the points", need, force);
    return result;
  }
};

void add_gap_families(CLI::App& kind, std::vector<Family>& families) {
  auto random_options = std::make_shared<GapOptions>();
  CLI::App* app =
      kind.add_subcommand("random", "Uniform keys; queries inside the promise; the answer goes into OUT.answer");
  random_options->add_to(*app);
  families.push_back({"gap-ann", app, [random_options](std::uint64_t seed, bool force) {
                        Random random(seed);
                        return erased(problems::random_promise_gap_ann(random_options->checked_shape(force),
                                                                       random_options->num_near, random));
                      }});
  auto tight = std::make_shared<GapOptions>();
  app = kind.add_subcommand("tight", "Every distance exactly at a threshold; the answer goes into OUT.answer");
  tight->add_to(*app);
  families.push_back({"gap-ann", app, [tight](std::uint64_t seed, bool force) {
                        Random random(seed);
                        return erased(
                            problems::adversarial_gap_ann(tight->checked_shape(force), tight->num_near, random));
                      }});
}

}  // namespace

void add_vector_families(CLI::App& gen, std::vector<Family>& families) {
  CLI::App* ov = gen.add_subcommand("ov", "Orthogonal vectors (.ov)");
  ov->require_subcommand(1);
  add_random_vectors(*ov, families);
  add_certain_vectors(*ov, families);
  CLI::App* gap = gen.add_subcommand("gap-ann", "Gap nearest neighbours (.gap)");
  gap->require_subcommand(1);
  add_gap_families(*gap, families);
}

}  // namespace subquad::drivers
