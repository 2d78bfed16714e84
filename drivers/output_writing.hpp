// Output writing: a file that appears whole or not at all, also when the user interrupts while it is being written.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace subquad::drivers {

/// Opens `path` ("-": standard output), lets `write` fill it, and puts it in place.
///
/// Errors  Error(interrupted) soon after a stop request, Error(input) if the place cannot be written, Error(resource)
///         if a write fails, and whatever `write` throws; in each case nothing is left at `path`
void write_output(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace subquad::drivers
