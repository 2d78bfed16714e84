// Attend kernels: what `subquad attend` can run, each with its options, its plan and its report.
#pragma once

#include "anna_planning.hpp"
#include "verb_command.hpp"

#include <subquad/attention/low_rank_plan.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace subquad::drivers {

/// The options of `attend`, of all kernels together. Options of one kernel are refused with another.
struct AttendOptions {
  std::vector<std::string> files;
  std::string output;
  std::string kernel = "exact";
  std::optional<double> tolerance;
  std::optional<double> scale;
  std::uint64_t seed = 1;
  bool force = false;
  bool verify = false;

  std::optional<double> entry_bound;  // low-rank
  std::uint64_t max_rank = 20'000;

  std::optional<std::uint64_t> k;  // knn, sampled
  std::string index = "exact";
  std::optional<double> gap;

  std::string estimator = "upweighted";  // sampled
  std::optional<std::uint64_t> samples;
  std::optional<double> delta;

  AnnaOptions anna;
};

/// One kernel, prepared for one instance.
class AttendKernel {
 public:
  virtual ~AttendKernel() = default;
  virtual std::string arithmetic() const = 0;
  virtual bool has_masks() const { return false; }
  /// Says and reports what would be done; refuses what cannot be done, with the numbers. Nothing is run.
  virtual void plan(nlohmann::ordered_json& report, const VerbCommand& command) = 0;
  /// Runs; says and reports what is known about the output.
  virtual problems::MatrixD run(const problems::AttentionMask& mask, const Execution& execution,
                                nlohmann::ordered_json& report, const VerbCommand& command) = 0;
};

/// Adds the options that belong to single kernels; the pairs name the kernels that an option is for.
using KernelOptions = std::vector<std::pair<CLI::Option*, std::vector<std::string>>>;
KernelOptions add_kernel_options(CLI::App& app, AttendOptions& options);

/// The kernel that options.kernel names: low-rank, low-rank-f32, knn, sampled, anna, one of the registry, or cmd:...
/// The instance must outlive it. Throws Error(parameter) for an unknown name, or for options that the kernel needs and
/// lacks.
std::unique_ptr<AttendKernel> make_attend_kernel(const AttendOptions& options,
                                                 const problems::Attention::Instance& instance, int threads);

std::unique_ptr<AttendKernel> make_low_rank_kernel(const AttendOptions& options,
                                                   const problems::Attention::Instance& instance, int threads);
std::unique_ptr<AttendKernel> make_knn_kernel(const AttendOptions& options,
                                              const problems::Attention::Instance& instance);
std::unique_ptr<AttendKernel> make_sampled_kernel(const AttendOptions& options,
                                                  const problems::Attention::Instance& instance);
std::unique_ptr<AttendKernel> make_anna_kernel(const AttendOptions& options,
                                               const problems::Attention::Instance& instance);

}  // namespace subquad::drivers
