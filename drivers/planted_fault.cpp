#include "planted_fault.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>

#include <cmath>
#include <limits>

namespace subquad::drivers {

namespace {

using problems::Attention;
using problems::MatrixD;

constexpr const char* kExpected = "expected drop-key:J or add:ROW:X with indices from 0";

std::uint64_t parse_index(const std::string& text, const std::string& word) {
  const auto value = parse_int(word);
  require(value && *value >= 0, ErrorKind::parameter, "planted fault {}: bad index {}, {}", subquad::quoted(text),
          subquad::quoted(word), kExpected);
  return static_cast<std::uint64_t>(*value);
}

MatrixD without_row(const MatrixD& matrix, Eigen::Index row) {
  MatrixD result(matrix.rows() - 1, matrix.cols());
  result.topRows(row) = matrix.topRows(row);
  result.bottomRows(matrix.rows() - 1 - row) = matrix.bottomRows(matrix.rows() - 1 - row);
  return result;
}

double log_of_shifted(double log_u, double amount) {
  const double shifted = std::exp(log_u) + amount;
  return shifted > 0 ? std::log(shifted) : -std::numeric_limits<double>::infinity();
}

}  // namespace

PlantedFault parse_planted_fault(const std::string& text) {
  PlantedFault fault;
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? std::string() : text.substr(colon + 1);
  if (kind == "drop-key") {
    fault.index = parse_index(text, rest);
    return fault;
  }
  require(kind == "add", ErrorKind::parameter, "planted fault {}: {}", subquad::quoted(text), kExpected);
  fault.kind = PlantedFault::Kind::add;
  const std::size_t second = rest.find(':');
  fault.index = parse_index(text, rest.substr(0, second));
  const auto amount = second == std::string::npos ? std::nullopt : parse_real(rest.substr(second + 1));
  require(amount.has_value(), ErrorKind::parameter, "planted fault {}: no number to add, {}", subquad::quoted(text),
          kExpected);
  fault.amount = *amount;
  return fault;
}

attention::Kernel with_planted_fault(const attention::Kernel& kernel, const PlantedFault& fault) {
  attention::Kernel faulty = kernel;
  const auto run = kernel.run;
  if (fault.kind == PlantedFault::Kind::drop_key) {
    faulty.name = fmt::format("{} without key {}", kernel.name, fault.index);
    faulty.run = [run, fault](const Attention::Instance& instance, const Execution& execution) {
      require(instance.k.rows() > 1 && fault.index < static_cast<std::uint64_t>(instance.k.rows()),
              ErrorKind::parameter, "planted fault: key {} cannot be dropped, the instance has keys 0..{}", fault.index,
              instance.k.rows() - 1);
      Attention::Instance reduced = instance;
      reduced.k = without_row(instance.k, static_cast<Eigen::Index>(fault.index));
      reduced.v = without_row(instance.v, static_cast<Eigen::Index>(fault.index));
      return run(reduced, execution);
    };
  } else {
    faulty.name = fmt::format("{} with {} added to row {}", kernel.name, fault.amount, fault.index);
    faulty.run = [run, fault](const Attention::Instance& instance, const Execution& execution) {
      Attention::Answer answer = run(instance, execution);
      require(fault.index < static_cast<std::uint64_t>(answer.output.rows()), ErrorKind::parameter,
              "planted fault: there is no row {}, the output has rows 0..{}", fault.index, answer.output.rows() - 1);
      answer.output(static_cast<Eigen::Index>(fault.index), 0) += fault.amount;
      if (!answer.log_column.empty()) {
        auto& enclosure = answer.log_column[fault.index];
        enclosure = {log_of_shifted(enclosure.log_low, fault.amount), log_of_shifted(enclosure.log_high, fault.amount)};
      }
      return answer;
    };
  }
  return faulty;
}

}  // namespace subquad::drivers
