// DIMACS, lenient and strict, and SAT-competition answers under libFuzzer.
#include "reading.hpp"

#include <subquad/sat/cnf.hpp>
#include <subquad/sat/dimacs.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace subquad;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  fuzz::read_as_instance<sat::CnfSat>(bytes);
  fuzz::read_as_answer<sat::CnfSat>(bytes);
  // What the strict reader accepts, the lenient one reads as the same formula, with no liberty taken.
  sat::DimacsFile strict;
  if (fuzz::accepted([&] {
        std::istringstream in(bytes);
        strict = sat::read_dimacs(in, "fuzz", sat::DimacsMode::strict);
      })) {
    std::istringstream in(bytes);
    const sat::DimacsFile lenient = sat::read_dimacs(in, "fuzz", sat::DimacsMode::lenient);
    if (!(lenient.formula == strict.formula)) fuzz::violated("strict and lenient readers agree", bytes);
    if (!lenient.liberties.empty()) fuzz::violated("a strict file needs no liberty", lenient.liberties.front());
  }
  return 0;
}
