#include <subquad/core/provenance.hpp>

#include <fmt/format.h>

namespace subquad {

std::string version() {
  return SUBQUAD_VERSION;
}

namespace {
std::string one_line(const std::string& text) {
  std::string result;
  for (const char raw : text) {
    const auto byte = static_cast<unsigned char>(raw);
    if (byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += raw;
  }
  return result;
}
}  // namespace

std::vector<std::string> Provenance::lines() const {
  std::vector<std::string> result{"subquad " + version()};
  if (!command.empty()) result.push_back("command: " + one_line(command));
  if (seed) result.push_back(fmt::format("seed: {}", *seed));
  if (!source.empty()) result.push_back(fmt::format("source: {} ({})", one_line(source), source_digest));
  return result;
}

}  // namespace subquad
