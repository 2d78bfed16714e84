#include <subquad/core/verdict.hpp>

namespace subquad {

std::string_view to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::certified:
      return "certified";
    case Verdict::refuted:
      return "refuted";
    case Verdict::undecided:
      return "undecided";
  }
  return "unknown";
}

Verdict combine(Verdict a, Verdict b) noexcept {
  if (a == Verdict::refuted || b == Verdict::refuted) return Verdict::refuted;
  if (a == Verdict::undecided || b == Verdict::undecided) return Verdict::undecided;
  return Verdict::certified;
}

}  // namespace subquad
