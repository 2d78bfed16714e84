#include "verbs.hpp"

namespace subquad::drivers {

std::span<const Verb> verbs() {
  static constexpr Verb kVerbs[] = {
      {"chain", "Decide", "decides a CNF through attention, every stage measured and verified",
       "subquad chain petersen-3-colouring.cnf --decode", run_chain},
      {"solve", "Decide", "runs the reference solver of a problem", "subquad solve ov instance.ov", run_solve},
      {"reduce", "Reduce", "turns an instance into one of another problem", "subquad reduce cnf ov f.cnf -o f.ov",
       run_reduce},
      {"lift", "Reduce", "maps an external solver's answer back, and verifies it",
       "subquad lift cnf ov f.cnf f.ov.answer", run_lift},
      {"graph", "Reduce", "shows problems and reductions, with composed size bounds",
       "subquad graph --from cnf --to attention", run_graph},
      {"verify", "Verify", "certifies or refutes an answer, a model, an attention output",
       "subquad verify attention q.npy k.npy v.npy out.npy --tolerance 1e-3", run_verify},
      {"exp", "Approximate", "makes and checks polynomials for e^x, with certified least degrees",
       "subquad exp --interval -4,4 --relative 1e-6", run_exp},
      {"attend", "Approximate", "runs one attention kernel on npy matrices, with its plan and error certificate",
       "subquad attend q.npy k.npy v.npy -o out.npy --kernel low-rank --tolerance 1e-3", run_attend},
      {"anna", "Approximate", "plans and runs nearest-neighbour attention by hash tables",
       "subquad anna plan --queries 16000 --dim 8 --radius 1 --ratio 10 --failure 0.01", run_anna},
      {"experiment", "Approximate", "the papers' experiments: data and plots",
       "subquad experiment transition --svg transition.svg", run_experiment},
      {"gen", "Make", "makes random and hard instances, with planted answers", "subquad gen cnf planted -n 20 -o p.cnf",
       run_gen},
      {"info", "Look", "prints version, build, libraries and machine", "subquad info --json", run_info},
  };
  return kVerbs;
}

}  // namespace subquad::drivers
