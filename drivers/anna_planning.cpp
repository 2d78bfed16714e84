#include "anna_planning.hpp"

#include "size_json.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace subquad::drivers {
namespace {

using ann::AnnaPlan;
using ann::AnnaRequest;
using ann::HashFamily;

/// The numbers behind the colon of "e2lsh:4" or "spherical-cap:1.5,64".
std::vector<double> numbers_of(const std::string& text, std::size_t colon) {
  std::vector<double> numbers;
  for (std::size_t begin = colon + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = parse_real(text.substr(begin, end - begin));
    require(number.has_value(), ErrorKind::parameter, "--family {}: expected numbers behind the colon",
            subquad::quoted(text));
    numbers.push_back(*number);
    begin = end + 1;
  }
  return numbers;
}

/// The family, or nothing for E2LSH with a width that the plan chooses.
std::optional<HashFamily> named_family(const std::string& text, std::uint64_t dim) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::vector<double> numbers = colon == std::string::npos ? std::vector<double>{} : numbers_of(text, colon);
  const auto expect_numbers = [&](std::size_t most, const char* usage) {
    require(numbers.empty() || numbers.size() == most, ErrorKind::parameter, "--family {}: expected {}",
            subquad::quoted(text), usage);
  };
  if (name == "e2lsh") {
    expect_numbers(1, "e2lsh or e2lsh:WIDTH");
    if (numbers.empty()) return std::nullopt;
    return ann::e2lsh(dim, numbers[0]);
  }
  if (name == "spherical-cap") {
    expect_numbers(2, "spherical-cap or spherical-cap:THRESHOLD,CAPS");
    if (numbers.empty()) return ann::spherical_cap(dim, 1.5, 64);
    require(numbers[1] >= 1 && numbers[1] <= 1e6, ErrorKind::parameter, "--family {}: {} caps, expected 1 to 1000000",
            subquad::quoted(text), numbers[1]);
    return ann::spherical_cap(dim, numbers[0], static_cast<std::uint64_t>(numbers[1]));
  }
  expect_numbers(0, "no numbers for this family");
  if (name == "bit-sampling") return ann::bit_sampling(dim);
  if (name == "hyperplane") return ann::hyperplane(dim);
  if (name == "cross-polytope") return ann::cross_polytope(dim);
  VerbCommand::unknown("hash family", text, {"e2lsh", "bit-sampling", "hyperplane", "cross-polytope", "spherical-cap"});
}

}  // namespace

void AnnaOptions::add_to(CLI::App& app) {
  app.add_option("--radius", radius, "r > 0: keys within r must get weight")->required();
  app.add_option("--ratio", ratio, "c > 1: keys beyond c r must not")->required();
  app.add_option("--failure", failure, "eta in (0, 1): probability that some query or key breaks this");
  app.add_option("--family", family,
                 "e2lsh (width chosen by the plan) or e2lsh:WIDTH; hyperplane, cross-polytope, "
                 "spherical-cap[:THRESHOLD,CAPS] (angular distance); bit-sampling (0/1 vectors)")
      ->capture_default_str();
  app.add_option("--far-pairs", far_pairs, "At most so many pairs beyond c r (default: all pairs)");
  app.add_option("--near-pairs", near_pairs, "At most so many pairs within r (default: all pairs)");
  app.add_option("--code-length", code_length, "z: with --tables, instead of --failure");
  app.add_option("--tables", tables, "l: with --code-length, instead of --failure");
  app.add_option("--max-tables", max_tables, "Refuse plans with more tables")->capture_default_str();
}

AnnaPlan make_anna_plan(const AnnaOptions& options, std::uint64_t num_queries, std::uint64_t num_keys,
                        std::uint64_t dim, std::uint64_t value_dim) {
  AnnaRequest request;
  request.num_queries = num_queries;
  request.num_keys = num_keys;
  request.dim = dim;
  request.value_dim = value_dim;
  request.radius = options.radius;
  request.ratio = options.ratio;
  request.failure = options.failure;
  request.max_tables = options.max_tables;
  if (options.far_pairs) request.far_pairs = Count(*options.far_pairs);
  if (options.near_pairs) request.near_pairs = Count(*options.near_pairs);
  require(dim >= 1, ErrorKind::parameter, "anna: points of dimension 0, expected at least 1");
  const std::optional<HashFamily> family = named_family(options.family, dim);
  const bool chosen = options.code_length.has_value() && options.tables.has_value();
  require(options.code_length.has_value() == options.tables.has_value(), ErrorKind::parameter,
          "--code-length and --tables: expected both or none");
  require(chosen != (options.failure != 0), ErrorKind::parameter,
          "anna: expected either --failure ETA, or --code-length Z and --tables L");
  if (!chosen) return family ? ann::plan_anna(request, *family) : ann::plan_anna_e2lsh(request);
  require(family.has_value(), ErrorKind::parameter, "--code-length and --tables: expected --family e2lsh:WIDTH");
  return ann::judge_anna(request, *family, *options.code_length, *options.tables);
}

nlohmann::ordered_json anna_plan_json(const AnnaPlan& plan) {
  return {{"family", plan.family.name},
          {"radius", plan.request.radius},
          {"ratio", plan.request.ratio},
          {"code_length", plan.code_length},
          {"tables", plan.tables},
          {"near_probability", plan.near_probability},
          {"far_probability", plan.far_probability},
          {"rho", plan.rho},
          {"failure_bound", plan.failure_bound},
          {"bytes_tables", count_json(plan.bytes_tables)},
          {"bytes_linear", count_json(plan.bytes_linear)},
          {"operations", count_json(plan.operations)},
          {"exact_operations", count_json(plan.exact_operations)},
          {"gain", plan.gain},
          {"paper",
           {{"code_length", plan.paper_code_length},
            {"tables", count_json(plan.paper_tables)},
            {"failure_bound", plan.paper_failure_bound}}}};
}

void say_anna_plan(const AnnaPlan& plan, const VerbCommand& command) {
  command.note("plan: {}, z = {} functions, l = {} tables; fails with probability <= {:.3g} (union bound)",
               plan.family.name, plan.code_length, plan.tables, plan.failure_bound);
  command.note("plan: p(r) = {:.4g}, p(c r) = {:.4g}, rho = {:.3g}", plan.near_probability, plan.far_probability,
               plan.rho);
  command.note("plan: memory {} with all tables, {} with one at a time", describe_bytes(plan.bytes_tables),
               describe_bytes(plan.bytes_linear));
  command.note("plan: {} multiply-adds, exact attention {}: {}", subquad::describe(plan.operations),
               subquad::describe(plan.exact_operations), plan.gain ? "a gain" : "no gain over exact");
  if (plan.paper_code_length > 0) {
    command.note("plan: L25's choice is z = {}, l = {}, with failure bound {:.3g}", plan.paper_code_length,
                 subquad::describe(plan.paper_tables), plan.paper_failure_bound);
  }
}

}  // namespace subquad::drivers
