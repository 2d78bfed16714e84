// subquad gen: random and hard instances, with planted answers in a sidecar.
#include "exit_status.hpp"
#include "generators.hpp"
#include "output_writing.hpp"
#include "size_json.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>
#include <subquad/io/npy.hpp>
#include <subquad/problems/attention.hpp>

#include <nlohmann/json.hpp>

#include <any>
#include <cmath>
#include <iostream>

namespace subquad::drivers {

int run_gen(const Invocation& invocation) {
  VerbCommand command(invocation, "Makes random and hard instances.",
                      {Effective::json, Effective::seed, Effective::force, Effective::dry_run},
                      {{"'subquad gen KIND FAMILY --help' shows a family's options. The same seed gives the same file.",
                        "A planted or known answer goes into OUT.answer, which 'subquad verify' reads.",
                        "--dry-run makes the instance in memory, prints its sizes, and writes nothing."},
                       {"0 done", "2 bad usage", "3 resource guard"},
                       {"subquad gen cnf uniform -n 30 --ratio 4.26 --seed 7 -o hard.cnf",
                        "subquad gen ov planted -n 4096 -d 48 -o planted.ov"}});
  std::string output;
  bool npy = false;
  command.app.require_subcommand(1);
  command.app.fallthrough();
  command.app.add_option("-o,--output", output, "File to write; -: standard output");
  command.app.add_flag("--npy", npy, "attention: write OUT.q.npy, OUT.k.npy, OUT.v.npy instead of text");
  std::vector<Family> families;
  add_cnf_families(command.app, families);
  add_vector_families(command.app, families);
  add_attention_families(command.app, families);
  // Shared options may stand anywhere, also behind the family.
  for (CLI::App* kind : command.app.get_subcommands([](CLI::App*) { return true; })) {
    kind->fallthrough();
    for (CLI::App* family : kind->get_subcommands([](CLI::App*) { return true; })) family->fallthrough();
  }
  if (!command.parse()) return kDone;
  const bool writes = !command.shared.dry_run;
  require(!output.empty() || !writes, ErrorKind::parameter, "gen: no output, expected -o FILE (or -o -)");
  require(!(command.shared.json && output == "-"), ErrorKind::parameter,
          "gen: --json and -o - both want standard output");

  const Family* chosen = nullptr;
  for (const Family& family : families)
    if (family.app->parsed()) chosen = &family;
  require(chosen != nullptr, ErrorKind::internal, "gen: no family was parsed");
  require(!npy || chosen->kind == problems::Attention::kId, ErrorKind::parameter,
          "gen: --npy is for attention, not for {}", chosen->kind);
  require(!npy || output != "-", ErrorKind::parameter,
          "gen: --npy writes three files, expected -o with a name for them");
  const GeneratedInstance generated = chosen->generate(command.shared.seed, command.shared.force);
  const auto& problem = reductions::problem(chosen->kind);
  const Sizes sizes = problem.size(generated.instance);
  command.note("{}: {}{}{}", problem.id, describe(sizes), generated.note.empty() ? "" : "; ", generated.note);

  for (const std::string& liberty : generated.liberties) command.note("{}", liberty);
  Provenance provenance = generated.source;
  provenance.command = command.command_line;
  provenance.seed = command.shared.seed;
  nlohmann::ordered_json report = {{"schema", "subquad.gen/1"},
                                   {"version", version()},
                                   {"problem", problem.id},
                                   {"family", chosen->app->get_name()},
                                   {"seed", command.shared.seed},
                                   {"sizes", sizes_json(sizes)},
                                   {"bytes", count_json(instance_bytes(problem.id, sizes))},
                                   {"digest", to_string(problem.digest(generated.instance))},
                                   {"dry_run", command.shared.dry_run}};
  if (writes && npy) {
    const auto& matrices = std::any_cast<const problems::Attention::Instance&>(generated.instance.value);
    io::write_npy_file(output + ".q.npy", matrices.q, provenance);
    io::write_npy_file(output + ".k.npy", matrices.k, provenance);
    io::write_npy_file(output + ".v.npy", matrices.v, provenance);
    report["output"] = {output + ".q.npy", output + ".k.npy", output + ".v.npy"};
    command.note("scale {} and eps_a {} are not in the files", matrices.scale, std::exp(matrices.log_tolerance));
  } else if (writes) {
    write_output(output, [&](std::ostream& out) { problem.write_instance(out, generated.instance, provenance); });
    if (generated.known && output != "-") {
      write_output(output + ".answer", [&](std::ostream& out) {
        problem.write_answer(out, generated.instance, *generated.known, provenance);
      });
      report["answer"] = output + ".answer";
    } else if (generated.known) {
      command.note("the known answer is not written: it goes beside a file, and the output is a stream");
    }
    report["output"] = output;
  }
  if (command.shared.json) std::cout << report.dump(2) << '\n';
  return kDone;
}

}  // namespace subquad::drivers
