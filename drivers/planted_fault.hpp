// Planted faults: the negative control of `subquad chain`. A kernel is made wrong on purpose; the audit must refute it.
#pragma once

#include <subquad/attention/kernel.hpp>

#include <cstdint>
#include <string>

namespace subquad::drivers {

/// A fault to plant into a kernel.
struct PlantedFault {
  enum class Kind {
    drop_key,  ///< the kernel never sees key `index`
    add        ///< the kernel adds `amount` to output (index, 0)
  };
  Kind kind = Kind::drop_key;
  std::uint64_t index = 0;  ///< 0-based
  double amount = 0;

  friend bool operator==(const PlantedFault&, const PlantedFault&) = default;
};

/// Reads "drop-key:J" or "add:ROW:X". Throws Error(parameter) for anything else.
PlantedFault parse_planted_fault(const std::string& text);

/// Returns the kernel with the fault in it; the name says so. In the log domain the enclosure of ln(u + amount) is
/// rounded to nearest. Running it throws Error(parameter) if the key or row does not exist, or if the only key would be
/// dropped.
attention::Kernel with_planted_fault(const attention::Kernel& kernel, const PlantedFault& fault);

}  // namespace subquad::drivers
