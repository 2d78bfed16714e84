#include "target_answers.hpp"

#include "attention_enclosure.hpp"

#include <subquad/problems/attention.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/orthogonal_tuples.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>

#include <any>
#include <cmath>
#include <cstdint>
#include <utility>

namespace subquad::battery {

using problems::Attention;
using problems::GapAnn;
using problems::OrthogonalTuples;
using problems::OrthogonalVectors;
using reductions::AnyAnswer;
using reductions::AnyInstance;

namespace {

Execution one_thread() {
  Execution execution;
  execution.threads = 1;  // tiny instances: starting threads would take longer than the work
  return execution;
}

constexpr std::size_t kMostWitnesses = 64;

/// Keeps at most kMostWitnesses of the list: first, last and evenly between.
template <class T>
std::vector<T> spread(std::vector<T> all) {
  if (all.size() <= kMostWitnesses) return all;
  std::vector<T> chosen;
  for (std::size_t k = 0; k < kMostWitnesses; ++k) chosen.push_back(all[k * (all.size() - 1) / (kMostWitnesses - 1)]);
  return chosen;
}

// ov: straight from the definition, bit by bit.

bool is_orthogonal(const OrthogonalVectors::Instance& instance, std::uint64_t i, std::uint64_t j) {
  for (std::uint64_t c = 0; c < instance.a.cols(); ++c)
    if (instance.a.get(i, c) && instance.b.get(j, c)) return false;
  return true;
}

std::vector<AnyAnswer> pairs(const OrthogonalVectors::Instance& instance, bool orthogonal) {
  std::vector<AnyAnswer> answers;
  for (std::uint64_t i = 0; i < instance.a.rows(); ++i)
    for (std::uint64_t j = 0; j < instance.b.rows(); ++j)
      if (is_orthogonal(instance, i, j) == orthogonal)
        answers.push_back({"ov", OrthogonalVectors::Answer{std::pair{i, j}}});
  return spread(std::move(answers));
}

// p-ov: all tuples by odometer.

std::vector<AnyAnswer> tuples(const OrthogonalTuples::Instance& instance, bool orthogonal) {
  std::vector<AnyAnswer> answers;
  const std::size_t p = instance.parts.size();
  for (const BitMatrix& part : instance.parts)
    if (part.rows() == 0) return answers;
  std::vector<std::uint64_t> tuple(p, 0);
  for (;;) {
    bool zero = true;
    for (std::uint64_t c = 0; c < instance.parts[0].cols() && zero; ++c) {
      bool all = true;
      for (std::size_t q = 0; q < p; ++q) all = all && instance.parts[q].get(tuple[q], c);
      zero = !all;
    }
    if (zero == orthogonal) answers.push_back({"p-ov", OrthogonalTuples::Answer{tuple}});
    std::size_t q = 0;
    while (q < p && ++tuple[q] == instance.parts[q].rows()) tuple[q++] = 0;
    if (q == p) return spread(std::move(answers));
  }
}

// gap-ann

enum class Truth { near, far, outside };

std::vector<Truth> truths(const GapAnn::Instance& instance) {
  std::vector<Truth> rows;
  for (std::uint64_t i = 0; i < instance.queries.rows(); ++i) {
    Truth truth = Truth::far;
    for (std::uint64_t j = 0; j < instance.keys.rows(); ++j) {
      std::int64_t distance = 0;
      for (std::uint64_t c = 0; c < instance.queries.cols(); ++c)
        distance += instance.queries.get(i, c) != instance.keys.get(j, c) ? 1 : 0;
      if (distance <= instance.r_yes) truth = Truth::near;
      if (distance < instance.r_no && truth == Truth::far) truth = Truth::outside;
    }
    rows.push_back(truth);
  }
  return rows;
}

std::vector<AnyAnswer> row_answers(const GapAnn::Instance& instance, Random& random) {
  const std::vector<Truth> rows = truths(instance);
  std::vector<AnyAnswer> answers;
  for (int kind = 0; kind < 4; ++kind) {
    GapAnn::Answer answer;
    for (const Truth truth : rows) {
      const bool outside = kind == 0 ? false : kind == 1 ? true : random.below(2) == 1;
      answer.near.push_back(truth == Truth::near || (truth == Truth::outside && outside));
    }
    answers.push_back({"gap-ann", std::move(answer)});
  }
  return answers;
}

// attention

constexpr double kSeenByDoubles = -16.0;  // ln of an error that doubles still show

Attention::Answer shifted(const Attention::Answer& exact, double error, Random* random) {
  Attention::Answer answer = exact;
  for (Eigen::Index i = 0; i < answer.output.rows(); ++i) {
    for (Eigen::Index c = 0; c < answer.output.cols(); ++c) {
      double& u = answer.output(i, c);
      u += random == nullptr ? (u > 0.5 ? -error : error) : error * (2 * random->unit() - 1);
    }
  }
  return answer;
}

std::vector<AnyAnswer> outputs(const Attention::Instance& instance, Random& random) {
  const Attention::Answer exact = Attention::solve_brute_force(instance, one_thread());
  std::vector<AnyAnswer> answers;
  if (instance.log_tolerance >= kSeenByDoubles) {
    // A hair less than the whole error: the reference itself rounds.
    const double error = std::exp(instance.log_tolerance) * (1 - 1e-9);
    answers.push_back({"attention", exact});
    answers.push_back({"attention", shifted(exact, error, nullptr)});
    answers.push_back({"attention", shifted(exact, error, &random)});
    return answers;
  }
  for (const double slack : {0.0, 1e-3}) {
    Attention::Answer answer = exact;
    for (Eigen::Index i = 0; i < instance.q.rows(); ++i) {
      const test::RowEnclosure row = test::enclose_row(instance, i);
      answer.log_column.push_back({row.log_low - slack, row.log_high + slack});
    }
    answers.push_back({"attention", std::move(answer)});
  }
  return answers;
}

}  // namespace

std::vector<AnyAnswer> valid_answers(const AnyInstance& instance, Random& random) {
  if (instance.problem == "ov") {
    auto answers = pairs(std::any_cast<const OrthogonalVectors::Instance&>(instance.value), true);
    if (answers.empty()) answers.push_back({"ov", OrthogonalVectors::Answer{}});
    return answers;
  }
  if (instance.problem == "p-ov") {
    auto answers = tuples(std::any_cast<const OrthogonalTuples::Instance&>(instance.value), true);
    if (answers.empty()) answers.push_back({"p-ov", OrthogonalTuples::Answer{}});
    return answers;
  }
  if (instance.problem == "gap-ann") return row_answers(std::any_cast<const GapAnn::Instance&>(instance.value), random);
  if (instance.problem == "attention")
    return outputs(std::any_cast<const Attention::Instance&>(instance.value), random);
  return {};
}

std::vector<AnyAnswer> wrong_answers(const AnyInstance& instance, Random& random) {
  std::vector<AnyAnswer> answers;
  if (instance.problem == "ov") {
    const auto& ov = std::any_cast<const OrthogonalVectors::Instance&>(instance.value);
    answers = pairs(ov, false);
    answers.push_back({"ov", OrthogonalVectors::Answer{std::pair{ov.a.rows(), std::uint64_t{0}}}});
  } else if (instance.problem == "p-ov") {
    const auto& pov = std::any_cast<const OrthogonalTuples::Instance&>(instance.value);
    answers = tuples(pov, false);
    std::vector<std::uint64_t> outside(pov.parts.size(), 0);
    outside.back() = pov.parts.back().rows();
    answers.push_back({"p-ov", OrthogonalTuples::Answer{outside}});
    answers.push_back({"p-ov", OrthogonalTuples::Answer{std::vector<std::uint64_t>(pov.parts.size() + 1, 0)}});
  } else if (instance.problem == "gap-ann") {
    const std::vector<Truth> rows = truths(std::any_cast<const GapAnn::Instance&>(instance.value));
    for (std::size_t lie = 0; lie < rows.size(); ++lie) {
      if (rows[lie] != Truth::far) continue;
      GapAnn::Answer answer{std::vector<bool>(rows.size(), false)};
      answer.near[lie] = true;
      answers.push_back({"gap-ann", std::move(answer)});
    }
  } else if (instance.problem == "attention") {
    const auto& attention = std::any_cast<const Attention::Instance&>(instance.value);
    Attention::Answer answer = Attention::solve_brute_force(attention, one_thread());
    answer.output.setOnes();
    answers.push_back({"attention", answer});
    if (answer.output.rows() > 0) {  // one row only: it has to be the row that is refuted
      answer.output.setZero();
      answer.output(static_cast<Eigen::Index>(random.below(static_cast<std::uint64_t>(answer.output.rows()))), 0) = 1;
      answers.push_back({"attention", answer});
      answer.output.setConstant(std::nan(""));
      answers.push_back({"attention", answer});
    }
  }
  return answers;
}

AnyAnswer some_valid_answer(const AnyInstance& instance, Random& random) {
  std::vector<AnyAnswer> answers = valid_answers(instance, random);
  return std::move(answers.at(random.below(answers.size())));
}

}  // namespace subquad::battery
