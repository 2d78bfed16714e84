// Chain options: what a run of the chain CNF -> OV -> (GapANN ->) attention is asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace subquad::drivers {

enum class Via {
  direct,  ///< CNF -> OV -> attention
  gap_ann  ///< CNF -> OV -> GapANN -> attention
};

enum class AttentionParameters {
  refined,  ///< constant additive error; any kernel
  paper     ///< AS23 Lemma 4.7: error n^-C_a, which needs a kernel that works in the log domain
};

/// How far the kernel's output is audited. The verdict never rests on the kernel's word unless the mode is `none`.
enum class AuditMode {
  automatic,  ///< flags of all rows up to 2^42 word operations, values of all rows up to 2^36; beyond that of a sample
  full,       ///< flags and values of all rows
  sample,     ///< flags as automatic; values of `sample_rows` rows
  none        ///< nothing; an "unsatisfiable" is then the kernel's word
};

struct AuditPolicy {
  AuditMode mode = AuditMode::automatic;
  std::uint64_t sample_rows = 256;  ///< rows whose values are looked at when not all are

  friend bool operator==(const AuditPolicy&, const AuditPolicy&) = default;
};

/// Reads "full", "none", "auto" or "sample:ROWS". Throws Error(parameter) for anything else.
AuditPolicy parse_audit_policy(const std::string& text);

struct ChainOptions {
  Via via = Via::direct;
  AttentionParameters parameters = AttentionParameters::refined;
  std::string tolerance = "0.1";  ///< eps_a as a decimal, in (0, 1/2), read exactly; refined parameters only
  std::optional<std::uint64_t> left_variables;  ///< variables on the left side; nothing: ceil(n/2)
  AuditPolicy audit;
  std::uint64_t seed = 1;    ///< of the audit's sample
  double alpha = 1.9;        ///< exponent of the hypothetical kernel in the ledger's conclusion, [1, 2]
  bool cross_check = false;  ///< run CaDiCaL too, and compare
  bool force = false;        ///< go on beyond the resource guard
};

std::string_view to_string(Via via) noexcept;
std::string_view to_string(AttentionParameters parameters) noexcept;
std::string_view to_string(AuditMode mode) noexcept;

}  // namespace subquad::drivers
