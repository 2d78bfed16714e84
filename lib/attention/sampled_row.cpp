#include "sampled_row.hpp"

#include <subquad/attention/unlisted_keys.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace subquad::attention {

void check_sampling(const problems::Attention::Instance& instance, const ann::Neighbors& neighbors, double gap) {
  problems::validate(instance);
  require(neighbors.index.rows() == instance.q.rows(), ErrorKind::parameter,
          "sampled attention: neighbours of {} queries, expected {}", neighbors.index.rows(), instance.q.rows());
  require(!neighbors.mask.causal, ErrorKind::parameter,
          "sampled attention: a masked search, expected one over all keys");
  require(neighbors.similarity == ann::Similarity::inner_product, ErrorKind::parameter,
          "sampled attention: a search by distance, expected one by inner product");
  require(instance.scale >= 0, ErrorKind::parameter,
          "sampled attention: scale {}, expected at least 0: the best keys are those of largest <q, k>",
          instance.scale);
  require(!neighbors.exact ||
              (neighbors.score_error.size() == neighbors.index.rows() &&
               neighbors.score.rows() == neighbors.index.rows() && neighbors.score.cols() == neighbors.index.cols()),
          ErrorKind::parameter, "sampled attention: an exact search must have scores and score errors of every row");
  require(gap >= 0 && std::isfinite(gap), ErrorKind::parameter, "sampled attention: gap {}, expected a number >= 0",
          gap);
  for (std::uint64_t i = 0; i < neighbors.rows(); ++i) {
    require(neighbors.count(i) >= 1, ErrorKind::parameter, "sampled attention: no key is listed for query {}", i);
  }
}

bool lists_all_keys(const problems::Attention::Instance& instance, const ann::Neighbors& neighbors) {
  for (std::uint64_t i = 0; i < neighbors.rows(); ++i) {
    if (neighbors.count(i) < static_cast<std::uint64_t>(instance.k.rows())) return false;
  }
  return true;
}

SampledRow::SampledRow(const problems::Attention::Instance& instance, const ann::Neighbors& neighbors,
                       std::uint64_t row)
    : instance_(instance), row_(static_cast<Eigen::Index>(row)), keys_(neighbors.count(row)), logits_(keys_.size()) {
  for (std::size_t a = 0; a < keys_.size(); ++a) {
    keys_[a] = neighbors.index(row_, static_cast<Eigen::Index>(a));
    require(keys_[a] < static_cast<std::uint64_t>(instance.k.rows()), ErrorKind::parameter,
            "sampled attention: query {} lists key {} of {}", row, keys_[a], instance.k.rows());
    logits_[a] = logit(keys_[a]);
  }
  std::vector<std::uint32_t> sorted = keys_;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  require(twice == sorted.end(), ErrorKind::parameter, "sampled attention: query {} lists key {} twice", row,
          twice == sorted.end() ? 0 : *twice);
  if (neighbors.exact) {
    const double score = neighbors.score(row_, static_cast<Eigen::Index>(keys_.size() - 1));
    const double bound = instance.scale * (score + neighbors.score_error[row_]);
    rounding_gap_ = std::max(0.0, bound - *std::min_element(logits_.begin(), logits_.end()));
  }
}

double SampledRow::logit(std::uint32_t key) const {
  const double result = instance_.scale * instance_.q.row(row_).dot(instance_.k.row(static_cast<Eigen::Index>(key)));
  require(std::isfinite(result), ErrorKind::parameter,
          "sampled attention: the logit of query {} and key {} is {}, expected a finite number", row_, key, result);
  return result;
}

LazyGumbelSampler SampledRow::sampler(double gap) const {
  return {keys_, logits_, static_cast<std::uint64_t>(instance_.k.rows()),
          [this](std::uint32_t key) { return logit(key); }, gap + rounding_gap_};
}

std::vector<WeightedKey> SampledRow::upweighted(std::uint64_t samples, Random& random) const {
  const UnlistedKeys unlisted(keys_);
  const std::uint64_t rest = static_cast<std::uint64_t>(instance_.k.rows()) - keys_.size();
  std::vector<WeightedKey> result;  // logits for now
  for (std::size_t a = 0; a < keys_.size(); ++a) result.push_back({keys_[a], logits_[a]});
  for (std::uint64_t t = 0; rest > 0 && t < samples; ++t) {
    const std::uint32_t key = unlisted.at(random.below(rest));
    result.push_back({key, logit(key)});
  }
  double largest = result.front().weight;
  for (const WeightedKey& key : result) largest = std::max(largest, key.weight);
  const double factor = static_cast<double>(rest) / static_cast<double>(samples);
  for (std::size_t a = 0; a < result.size(); ++a) {
    result[a].weight = (a < keys_.size() ? 1.0 : factor) * std::exp(result[a].weight - largest);
  }
  return result;
}

}  // namespace subquad::attention
