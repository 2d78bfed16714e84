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
      {"gen", "Make", "makes random and hard instances, with planted answers", "subquad gen cnf planted -n 20 -o p.cnf",
       run_gen},
      {"info", "Look", "prints version, build, libraries and machine", "subquad info --json", run_info},
  };
  return kVerbs;
}

}  // namespace subquad::drivers
