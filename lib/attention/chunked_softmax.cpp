#include <subquad/attention/chunked_softmax.hpp>
#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/core/error.hpp>

#include <unordered_map>

namespace subquad::attention {
namespace {

using problems::MatrixD;

/// The tokens of each part, ascending; parts in the order of their first tokens.
std::vector<std::vector<Eigen::Index>> group(std::span<const std::uint64_t> part_of) {
  std::vector<std::vector<Eigen::Index>> parts;
  std::unordered_map<std::uint64_t, std::size_t> number;
  for (std::size_t i = 0; i < part_of.size(); ++i) {
    const auto found = number.try_emplace(part_of[i], parts.size());
    if (found.second) parts.emplace_back();
    parts[found.first->second].push_back(static_cast<Eigen::Index>(i));
  }
  return parts;
}

MatrixD rows_of(const MatrixD& matrix, const std::vector<Eigen::Index>& tokens) {
  MatrixD rows(static_cast<Eigen::Index>(tokens.size()), matrix.cols());
  for (std::size_t a = 0; a < tokens.size(); ++a) rows.row(static_cast<Eigen::Index>(a)) = matrix.row(tokens[a]);
  return rows;
}

}  // namespace

MatrixD chunked_softmax(const problems::Attention::Instance& instance, std::span<const std::uint64_t> part_of,
                        const Execution& execution) {
  const Eigen::Index n = instance.q.rows();
  require(instance.k.rows() == n && instance.v.rows() == n && instance.q.cols() == instance.k.cols() &&
              part_of.size() == static_cast<std::size_t>(n),
          ErrorKind::parameter,
          "chunked softmax: Q is {} x {}, K {} x {}, V {} x {}, {} labels; expected n x d, n x d, n x d_v, n", n,
          instance.q.cols(), instance.k.rows(), instance.k.cols(), instance.v.rows(), instance.v.cols(),
          part_of.size());
  const std::vector<std::vector<Eigen::Index>> parts = group(part_of);
  MatrixD output(n, instance.v.cols());
  const ProgressScope progress(execution, "parts", parts.size());
  Execution inner;
  inner.threads = parts.size() == 1 ? execution.threads : 1;
  inner.stop = execution.stop;
  parallel_for(execution, parts.size(), 1, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t p = begin; p < end; ++p) {
      const std::vector<Eigen::Index>& tokens = parts[p];
      const MatrixD rows = streaming_softmax(rows_of(instance.q, tokens), rows_of(instance.k, tokens),
                                             rows_of(instance.v, tokens), instance.scale, inner);
      for (std::size_t a = 0; a < tokens.size(); ++a) output.row(tokens[a]) = rows.row(static_cast<Eigen::Index>(a));
    }
  });
  return output;
}

std::vector<std::uint64_t> stride_digit_parts(std::uint64_t num_tokens, std::uint64_t base, std::uint64_t digit) {
  require(base >= 2, ErrorKind::parameter, "stride parts: base {}, expected at least 2", base);
  // A stride beyond the tokens leaves each alone; it is not multiplied further, so that it cannot overflow.
  std::uint64_t stride = 1;
  for (std::uint64_t t = 0; t < digit && stride < num_tokens; ++t) {
    stride = stride > num_tokens / base ? num_tokens : stride * base;
  }
  std::vector<std::uint64_t> part_of(num_tokens);
  for (std::uint64_t i = 0; i < num_tokens; ++i) {
    // The index with that digit set to 0.
    part_of[i] = stride >= num_tokens ? i : i - (i / stride % base) * stride;
  }
  return part_of;
}

}  // namespace subquad::attention
