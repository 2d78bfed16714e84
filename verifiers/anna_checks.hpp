// ANNA checks: what verifiers of counts and of outputs ask of their input.
#pragma once

#include <subquad/core/error.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/verifiers/anna.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace subquad::verifiers {

/// Throws Error(parameter) with the place of the first entry that is not finite.
inline void check_finite(const Eigen::Ref<const problems::MatrixD>& matrix, const char* name) {
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      require(std::isfinite(matrix(i, c)), ErrorKind::parameter, "anna: {}[{},{}] is {}, expected a finite number",
              name, i, c, matrix(i, c));
    }
  }
}

/// Throws Error(parameter) unless keys are in range and ascending, and counts at least 1.
inline void check_rows(const std::vector<AnnaRow>& rows, std::uint64_t num_keys) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t a = 0; a < rows[i].size(); ++a) {
      const auto& [key, count] = rows[i][a];
      require(key < num_keys, ErrorKind::parameter, "anna: row {} has a count for key {} of {}", i, key, num_keys);
      require(a == 0 || rows[i][a - 1].first < key, ErrorKind::parameter,
              "anna: row {} has key {} after key {}, expected ascending keys", i, key,
              rows[i][a - (a > 0 ? 1 : 0)].first);
      require(count >= 1, ErrorKind::parameter, "anna: row {} has count 0 for key {}, expected at least 1", i, key);
    }
  }
}

}  // namespace subquad::verifiers
