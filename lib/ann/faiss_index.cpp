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
    probes_ = std::min(options.probes, lists);
    index_ = std::make_unique<faiss::IndexIVFFlat>(&quantizer_, static_cast<std::size_t>(keys.cols()),
                                                   static_cast<std::size_t>(lists), faiss::METRIC_INNER_PRODUCT);
    index_->cp.min_points_per_centroid = 1;  // FAISS would print a warning: the number of lists is the caller's choice
    if (keys.cols() == 0) return;            // nothing to cluster; a search scores all keys
    try {
      index_->train(keys.rows(), rounded.data());
      index_->add(keys.rows(), rounded.data());
    } catch (const std::exception& error) {
      fail(ErrorKind::unsupported, "faiss index: {}", error.what());
    }
  }

  Neighbors search(const Eigen::Ref<const MatrixD>& q, std::uint64_t count, const Execution& execution) const override {
    check_index_query(q, keys_, count);
    const MatrixF queries = q.cast<float>();
    require(queries.allFinite(), ErrorKind::parameter, "faiss index: the queries leave the range of float32");
    execution.check_stop();
    Neighbors result = empty_neighbors(q.rows(), count);
    const ProgressScope progress(execution, "faiss search", static_cast<std::uint64_t>(q.rows()));
    parallel_for(execution, static_cast<std::uint64_t>(q.rows()), kBlock, [&](std::uint64_t begin, std::uint64_t end) {
      CandidateScoring scoring(keys_);
      Scratch scratch(count);
      for (std::uint64_t row = begin; row < end; ++row) {
        const auto i = static_cast<Eigen::Index>(row);
        scoring.start(q.row(i));
        collect(queries.row(i).data(), count, scratch, scoring);
        scoring.finish(count, result, i);
      }
    });
    return result;
  }

  std::string description() const override { return fmt::format("faiss: {} lists, {} probes", index_->nlist, probes_); }
  std::uint64_t bytes() const override {
    return static_cast<std::uint64_t>(keys_.size()) * sizeof(float) +
           static_cast<std::uint64_t>(keys_.rows()) * sizeof(Label) +
           static_cast<std::uint64_t>(index_->nlist) * static_cast<std::uint64_t>(keys_.cols()) * sizeof(float);
  }

 private:
  using Label = faiss::Index::idx_t;
  static constexpr std::uint64_t kBlock = 64;  // queries between two looks at a stop request

  struct Scratch {
    explicit Scratch(std::uint64_t count) : scores(count), labels(count) {}
    std::vector<float> list_scores;
    std::vector<Label> lists;
    std::vector<float> scores;
    std::vector<Label> labels;
  };

  /// One query at a time: then FAISS starts no threads of its own, so that `execution` decides how many run. If the
  /// lists hold too few keys, twice as many are looked at; if all do (scores that are NaN in float32), every key.
  void collect(const float* query, std::uint64_t count, Scratch& scratch, CandidateScoring& scoring) const {
    const std::size_t lists = keys_.cols() == 0 ? 0 : index_->nlist;
    for (std::size_t probes = std::min(static_cast<std::size_t>(probes_), lists); probes > 0;
         probes = probes < lists ? std::min(2 * probes, lists) : 0) {
      look_up(query, count, probes, scratch);
      for (const Label key : scratch.labels) {
        if (key >= 0) scoring.add(static_cast<std::uint32_t>(key));
      }
      if (scoring.size() >= count) return;
    }
    for (std::uint32_t key = 0; key < static_cast<std::uint32_t>(keys_.rows()); ++key) scoring.add(key);
  }

  void look_up(const float* query, std::uint64_t count, std::size_t probes, Scratch& scratch) const {
    scratch.list_scores.resize(probes);
    scratch.lists.resize(probes);
    faiss::SearchParametersIVF parameters;
    parameters.nprobe = probes;
    faiss::IndexIVFStats statistics;  // FAISS's own are global and not thread-safe
    try {
      quantizer_.search(1, query, static_cast<Label>(probes), scratch.list_scores.data(), scratch.lists.data());
      index_->search_preassigned(1, query, static_cast<Label>(count), scratch.lists.data(), scratch.list_scores.data(),
                                 scratch.scores.data(), scratch.labels.data(), false, &parameters, &statistics);
    } catch (const std::exception& error) {
      fail(ErrorKind::unsupported, "faiss index: {}", error.what());
    }
  }

  const MatrixD& keys_;
  int probes_ = 0;
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
