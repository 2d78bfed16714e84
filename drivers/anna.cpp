// subquad anna: nearest-neighbour attention by locality-sensitive hashing (L25): plans, and runs with a verifier.
#include "anna_planning.hpp"
#include "anna_run.hpp"
#include "exit_status.hpp"
#include "verbs.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <iostream>

namespace subquad::drivers {
namespace {

struct AnnaSizes {
  std::uint64_t queries = 0, keys = 0, dim = 0, value_dim = 1;
};

int anna_plan(const AnnaOptions& options, const AnnaSizes& sizes, const VerbCommand& command) {
  const std::uint64_t keys = sizes.keys == 0 ? sizes.queries : sizes.keys;
  const ann::AnnaPlan plan = make_anna_plan(options, sizes.queries, keys, sizes.dim, sizes.value_dim);
  say_anna_plan(plan, command);
  if (command.shared.json) {
    nlohmann::ordered_json report = {
        {"schema", "subquad.anna.plan/1"},
        {"version", version()},
        {"sizes",
         {{"num_queries", sizes.queries}, {"num_keys", keys}, {"dim", sizes.dim}, {"value_dim", sizes.value_dim}}}};
    report.update(anna_plan_json(plan));
    std::cout << report.dump(2) << '\n';
  }
  return kDone;
}

}  // namespace

int run_anna(const Invocation& invocation) {
  VerbCommand command(
      invocation, "ANNA attention: each query averages the values of the keys in its hash buckets.",
      {Effective::json, Effective::dry_run, Effective::force, Effective::seed, Effective::threads},
      {{"Every key within r of a query gets weight, no key beyond c r does, for all queries at once, but for a failure",
        "probability eta. plan: hash functions a table (z) and tables (l) of least cost, by an exact union bound; "
        "needs no",
        "data. run: draws the tables, writes the output. Queries that meet no key get 0 and are counted.",
        "--verify judges what was drawn by the definition, with exact distances."},
       {"0 done", "1 --verify refuted: the tables failed, which they may with probability eta", "2 bad usage or input",
        "3 no plan within --max-tables, or resource guard"},
       {"subquad anna plan --queries 16000 --dim 8 --radius 1 --ratio 10 --failure 0.01",
        "subquad anna run q.npy k.npy v.npy --radius 1 --ratio 10 --failure 0.01 -o out.npy --verify"}});
  AnnaOptions plan_options;
  AnnaSizes sizes;
  AnnaRunOptions run_options;
  command.app.require_subcommand(1);
  CLI::App* plan = command.app.add_subcommand("plan", "Tables, memory, cost and failure probability, without data");
  plan->add_option("--queries", sizes.queries, "n")->required();
  plan->add_option("--keys", sizes.keys, "n_k (default: n)");
  plan->add_option("--dim", sizes.dim, "d")->required();
  plan->add_option("--value-dim", sizes.value_dim, "d_v")->capture_default_str();
  plan_options.add_to(*plan);
  plan->fallthrough();
  CLI::App* run = command.app.add_subcommand("run", "Plans for three matrices and runs");
  run_options.add_to(*run);
  run->fallthrough();
  if (!command.parse()) return kDone;
  return plan->parsed() ? anna_plan(plan_options, sizes, command) : anna_run(run_options, command);
}

}  // namespace subquad::drivers
