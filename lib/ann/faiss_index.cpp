#include <subquad/ann/approximate_index.hpp>
#include <subquad/core/error.hpp>

#ifdef SUBQUAD_HAVE_FAISS
#include "candidate_scoring.hpp"

#include <faiss/IndexFlat.h>
#include <faiss/IndexIVFFlat.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <vector>
#endif

namespace subquad::ann {

#ifdef SUBQUAD_HAVE_FAISS

namespace {

using problems::MatrixD;
using problems::MatrixF;

class FaissIndex final : public ApproximateIndex {
 public:
  FaissIndex(const MatrixD& keys, const InvertedListOptions& options) : keys_(keys), quantizer_(keys.cols()) {
    require(keys.rows() >= 1 && keys.rows() < kNoKey, ErrorKind::parameter,
            "faiss index: {} keys, expected 1 to 2^32 - 2", keys.rows());
    require(options.lists >= 0 && options.lists <= keys.rows() && options.probes >= 1, ErrorKind::parameter,
            "faiss index: {} lists, {} probes; expected 0 to {} and at least 1", options.lists, options.probes,
            keys.rows());
    check_finite_points(keys, "K");
    const double n = static_cast<double>(keys.rows());
    const int lists = options.lists > 0 ? options.lists
                                        : std::max(1, static_cast<int>(std::min(4 * std::sqrt(n), std::floor(n / 39))));
    const MatrixF rounded = keys.cast<float>();
    require(rounded.allFinite(), ErrorKind::parameter, "faiss index: the keys leave the range of float32");
    index_ = std::make_unique<faiss::IndexIVFFlat>(&quantizer_, static_cast<std::size_t>(keys.cols()),
                                                   static_cast<std::size_t>(lists), faiss::METRIC_INNER_PRODUCT);
    index_->nprobe = static_cast<std::size_t>(std::min(options.probes, lists));
    try {
      index_->train(keys.rows(), rounded.data());
      index_->add(keys.rows(), rounded.data());
    } catch (const std::exception& error) {
      fail(ErrorKind::unsupported, "faiss index: {}", error.what());
    }
  }

  Neighbors search(const Eigen::Ref<const MatrixD>& q, std::uint64_t count, const Execution& execution) const override {
    check_index_query(q, keys_, count);
    execution.check_stop();
    Neighbors result = empty_neighbors(q.rows(), count);
    const MatrixF queries = q.cast<float>();
    std::vector<float> scores(static_cast<std::size_t>(q.rows()) * count);
    std::vector<faiss::Index::idx_t> keys(scores.size(), -1);
    try {
      index_->search(q.rows(), queries.data(), static_cast<faiss::Index::idx_t>(count), scores.data(), keys.data());
    } catch (const std::exception& error) {
      fail(ErrorKind::unsupported, "faiss index: {}", error.what());
    }
    CandidateScoring scoring(keys_);
    for (Eigen::Index i = 0; i < q.rows(); ++i) {
      scoring.start(q.row(i));
      for (std::uint64_t a = 0; a < count; ++a) {
        const auto key = keys[static_cast<std::size_t>(i) * count + a];
        if (key >= 0) scoring.add(static_cast<std::uint32_t>(key));
      }
      scoring.finish(count, result, i);
    }
    return result;
  }

  std::string description() const override {
    return fmt::format("faiss: {} lists, {} probes", index_->nlist, index_->nprobe);
  }
  std::uint64_t bytes() const override {
    return static_cast<std::uint64_t>(keys_.size()) * sizeof(float) + static_cast<std::uint64_t>(keys_.rows()) * 8;
  }

 private:
  const MatrixD& keys_;
  faiss::IndexFlatIP quantizer_;
  std::unique_ptr<faiss::IndexIVFFlat> index_;
};

}  // namespace

bool have_faiss() noexcept {
  return true;
}

std::unique_ptr<ApproximateIndex> make_faiss_index(const problems::MatrixD& keys, const InvertedListOptions& options) {
  return std::make_unique<FaissIndex>(keys, options);
}

#else

bool have_faiss() noexcept {
  return false;
}

std::unique_ptr<ApproximateIndex> make_faiss_index(const problems::MatrixD&, const InvertedListOptions&) {
  fail(ErrorKind::unsupported, "this build has no FAISS (SUBQUAD_FAISS): the index 'lsh' is always there");
}

#endif

}  // namespace subquad::ann
