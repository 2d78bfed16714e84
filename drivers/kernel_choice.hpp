// Kernel choice: built-in kernels by name, and any program as a kernel through npy files.
#pragma once

#include <subquad/attention/kernel.hpp>

#include <string>

namespace subquad::drivers {

/// Returns the kernel that `--kernel` names: a built-in one, or `cmd:TEMPLATE`.
///
/// The template's {q}, {k}, {v}, {out} are replaced by the names of .npy files (float64, row-major, shapes n x d, n_k x
/// d, n_k x d_v, n x d_v) in a private folder that goes afterwards, and {scale} by the scale's shortest exact decimal.
/// The four files must all occur. The program must write {out} (float32 or float64) and return 0. Throws
/// Error(parameter) for an unknown name (with the nearest) or an incomplete template. Running a `cmd:` kernel throws
/// Error(unsupported) if the program fails or leaves no output of the right shape.
attention::Kernel choose_kernel(const std::string& text);

/// True iff the kernel came from `cmd:`.
bool is_shell_kernel(const attention::Kernel& kernel);

}  // namespace subquad::drivers
