#include "chain_options.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>

namespace subquad::drivers {

AuditPolicy parse_audit_policy(const std::string& text) {
  AuditPolicy policy;
  if (text == "auto") return policy;
  if (text == "full") {
    policy.mode = AuditMode::full;
    return policy;
  }
  if (text == "none") {
    policy.mode = AuditMode::none;
    return policy;
  }
  const std::string prefix = "sample:";
  const bool sample = text.rfind(prefix, 0) == 0;
  const std::int64_t rows = sample ? parse_int(text.substr(prefix.size())).value_or(-1) : -1;
  require(rows >= 0, ErrorKind::parameter, "--audit {}: expected auto, full, none or sample:ROWS",
          subquad::quoted(text));
  policy.mode = AuditMode::sample;
  policy.sample_rows = static_cast<std::uint64_t>(rows);
  return policy;
}

std::string_view to_string(Via via) noexcept {
  return via == Via::direct ? "direct" : "gap-ann";
}

std::string_view to_string(AttentionParameters parameters) noexcept {
  return parameters == AttentionParameters::refined ? "refined" : "paper";
}

std::string_view to_string(AuditMode mode) noexcept {
  switch (mode) {
    case AuditMode::automatic:
      return "auto";
    case AuditMode::full:
      return "full";
    case AuditMode::sample:
      return "sample";
    case AuditMode::none:
      return "none";
  }
  return "unknown";
}

}  // namespace subquad::drivers
