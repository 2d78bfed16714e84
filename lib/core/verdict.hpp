// Verdicts: what an independent verifier says. Exactly three values, and none of them converts to bool.
#pragma once

#include <string>
#include <string_view>

namespace subquad {

/// What a verifier found out.
enum class Verdict {
  certified,  ///< proved right
  refuted,    ///< proved wrong; the report holds the evidence
  undecided   ///< neither, at the allowed precision or effort; never reported as a pass
};

/// Returns "certified", "refuted" or "undecided".
std::string_view to_string(Verdict verdict) noexcept;

/// A verdict with its reason in one line (the evidence if refuted, the obstacle if undecided).
struct Report {
  Verdict verdict = Verdict::undecided;
  std::string reason;

  friend bool operator==(const Report&, const Report&) = default;
};

/// Returns the verdict of "all of these hold": refuted beats undecided beats certified.
Verdict combine(Verdict a, Verdict b) noexcept;

}  // namespace subquad
