#include "causal_option.hpp"

#include <subquad/core/error.hpp>

namespace subquad::drivers {

void CausalOption::add_to(CLI::App& app) {
  app.add_flag("--causal", causal, "attention: query i sees the keys 0 to i (+ N) only");
  app.add_option("--causal-offset", offset, "N >= 0 of --causal (default 0; n_k - n lets the last query see all keys)");
}

problems::AttentionMask CausalOption::mask() const {
  require(causal || !offset, ErrorKind::parameter, "--causal-offset {}: expected --causal with it", offset.value_or(0));
  return {causal, offset.value_or(0)};
}

}  // namespace subquad::drivers
