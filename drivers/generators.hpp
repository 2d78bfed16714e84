// Generators: the families of `subquad gen`, each with its command-line options.
#pragma once

#include "resource_guard.hpp"

#include <subquad/core/provenance.hpp>
#include <subquad/reductions/registry.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace subquad::drivers {

/// An instance from a generator, with a right answer if the construction knows one.
struct GeneratedInstance {
  reductions::AnyInstance instance;
  std::optional<reductions::AnyAnswer> known;
  std::string note;                    ///< what the parameters came to, for people; may be empty
  std::vector<std::string> liberties;  ///< what the reader of a source file forgave
  Provenance source;                   ///< the source file and its digest, if the instance comes from one
};

/// How a family is made; `force` switches the resource guard off.
using Generate = std::function<GeneratedInstance(std::uint64_t seed, bool force)>;

/// One family of one kind. Its options stand in `app`.
struct Family {
  std::string kind;
  CLI::App* app = nullptr;
  Generate generate;
};

/// Add the kinds cnf, ov, gap-ann and attention to `gen`, and their families to `families`.
void add_cnf_families(CLI::App& gen, std::vector<Family>& families);
void add_vector_families(CLI::App& gen, std::vector<Family>& families);
void add_attention_families(CLI::App& gen, std::vector<Family>& families);

}  // namespace subquad::drivers
