// subquad info: version, build, libraries, machine, indexes, kernels.
#include "exit_status.hpp"
#include "verbs.hpp"

#include <subquad/ann/approximate_index.hpp>
#include <subquad/attention/kernel.hpp>
#include <subquad/core/count.hpp>
#include <subquad/core/provenance.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/exact/interval.hpp>
#include <subquad/sat/cadical_solver.hpp>

#include <CLI/CLI.hpp>
#include <boost/version.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <Eigen/Core>
#include <iostream>

namespace subquad::drivers {

namespace {

using Json = nlohmann::ordered_json;

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

// What this processor can run of the targets that the kernels are compiled for, widest first.
Json simd_targets() {
  Json targets = Json::array();
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    targets.push_back("AVX-512");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) targets.push_back("AVX2");
  if (__builtin_cpu_supports("sse4.1")) targets.push_back("SSE4");
  if (__builtin_cpu_supports("ssse3")) targets.push_back("SSSE3");
  targets.push_back("SSE2");
#elif defined(__aarch64__)
  targets.push_back("NEON");
#endif
  return targets;
}

Json libraries() {
  return {{"boost", fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100)},
          {"gmp", gmp_version},
          {"mpfr", mpfr_get_version()},
          {"eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
          {"highway", SUBQUAD_HIGHWAY_VERSION},
          {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"cadical", sat::cadical_version()},
          {"cli11", CLI11_VERSION},
          {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                        NLOHMANN_JSON_VERSION_PATCH)}};
}

// The searches of attend --kernel knn that this build has.
Json indexes() {
  Json names = {"exact", "lsh"};
  if (ann::have_faiss()) names.push_back("faiss");
  return names;
}

}  // namespace

int run_info(const Invocation& invocation) {
  VerbCommand command(invocation, "Prints version, build, libraries and machine.",
                      {Effective::json, Effective::threads}, {{}, {"0 done"}, {"subquad info", "subquad info --json"}});
  if (!command.parse()) return kDone;
  Json report = {{"schema", "subquad.info/1"},
                 {"version", version()},
                 {"compiler", compiler()},
                 {"build_type", SUBQUAD_BUILD_TYPE},
                 {"simd_targets", simd_targets()},
                 {"threads", command.execution().thread_count()},
                 {"available_memory_bytes", available_memory_bytes()},
                 {"libraries", libraries()},
                 {"indexes", indexes()},
                 {"kernels", Json::array()}};
  for (const attention::Kernel& kernel : attention::kernels())
    report["kernels"].push_back({{"name", kernel.name},
                                 {"arithmetic", kernel.arithmetic},
                                 {"log_domain", kernel.log_domain},
                                 {"description", kernel.description}});
  if (command.shared.json) {
    std::cout << report.dump(2) << '\n';
    return kDone;
  }
  std::cout << fmt::format("subquad    {}\ncompiler   {}, {}\nsimd       {}\nthreads    {}\nmemory     {} free\n",
                           version(), compiler(), SUBQUAD_BUILD_TYPE,
                           fmt::join(report["simd_targets"].get<std::vector<std::string>>(), ", "),
                           report["threads"].get<int>(), describe_bytes(available_memory_bytes()));
  std::cout << "libraries ";
  std::string separator = " ";
  for (const auto& [name, value] : report["libraries"].items()) {
    std::cout << separator << name << ' ' << value.get<std::string>();
    separator = ", ";
  }
  std::cout << fmt::format("\nindexes    {}\nkernels\n",
                           fmt::join(report["indexes"].get<std::vector<std::string>>(), ", "));
  for (const attention::Kernel& kernel : attention::kernels())
    std::cout << fmt::format("  {:<14}{:<16}{}\n", kernel.name, kernel.arithmetic, kernel.description);
  return kDone;
}

}  // namespace subquad::drivers
