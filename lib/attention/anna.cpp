#include <subquad/ann/hash_tables.hpp>
#include <subquad/attention/anna.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

namespace subquad::attention {
namespace {

using ann::CodeMatrix;
using ann::HashTable;
using problems::MatrixD;
using View = Eigen::Ref<const MatrixD>;

constexpr std::uint64_t kHashBlock = 1024;  // points a task; hashing a point does not depend on its neighbours
constexpr std::uint64_t kQueryBlock = 256;
constexpr std::uint64_t kBucketBlock = 64;

std::uint64_t u64(Eigen::Index i) {
  return static_cast<std::uint64_t>(i);
}

void check_tables(const AnnaParameters& p, const View& q, const View& k) {
  require(p.code_length >= 1 && p.tables >= 1, ErrorKind::parameter,
          "anna: code length {}, {} tables; expected at least 1 each", p.code_length, p.tables);
  check_points(p.family, q, "Q");
  check_points(p.family, k, "K");
}

/// Finite values, and no sum of them may overflow: an infinity minus another would be NaN.
void check_values(const AnnaParameters& p, const View& k, const View& v) {
  require(k.rows() == v.rows(), ErrorKind::parameter, "anna: K has {} rows, V {}; expected the same", k.rows(),
          v.rows());
  double largest = 0;
  for (Eigen::Index j = 0; j < v.rows(); ++j) {
    for (Eigen::Index c = 0; c < v.cols(); ++c) {
      require(std::isfinite(v(j, c)), ErrorKind::parameter, "anna: V[{},{}] is {}, expected a finite number", j, c,
              v(j, c));
      largest = std::max(largest, std::fabs(v(j, c)));
    }
  }
  const double terms = static_cast<double>(p.tables) * static_cast<double>(k.rows());
  // Half of the range is left for rounding: l n_k < 2^96, so partial sums grow by far less than a factor 2.
  require(largest * terms <= std::numeric_limits<double>::max() / 2, ErrorKind::parameter,
          "anna: entries of V up to {:g} could overflow a sum of l n_k = {:g} terms; scale V down", largest, terms);
}

/// Calls visit(first, codes) for blocks of points in parallel.
template <class Visit>
void hash_blocks(const ann::HashTuple& tuple, const View& points, const Execution& execution, Visit&& visit) {
  parallel_for(execution, u64(points.rows()), kHashBlock, [&](std::uint64_t begin, std::uint64_t end) {
    const auto first = static_cast<Eigen::Index>(begin);
    visit(first, tuple.hash(points.middleRows(first, static_cast<Eigen::Index>(end - begin))));
  });
}

CodeMatrix hash_all(const ann::HashTuple& tuple, const View& points, std::uint64_t length, const Execution& execution) {
  CodeMatrix codes(points.rows(), static_cast<Eigen::Index>(length));
  hash_blocks(tuple, points, execution,
              [&](Eigen::Index first, const CodeMatrix& block) { codes.middleRows(first, block.rows()) = block; });
  return codes;
}

/// Sum and number of the values of each bucket, keys ascending.
struct BucketSums {
  MatrixD sum;
  std::vector<std::uint64_t> count;

  /// keys_of(b): the keys of bucket b, ascending.
  template <class KeysOf>
  BucketSums(std::uint64_t buckets, const View& v, const Execution& execution, KeysOf&& keys_of)
      : sum(MatrixD::Zero(static_cast<Eigen::Index>(buckets), v.cols())), count(buckets, 0) {
    parallel_for(execution, buckets, kBucketBlock, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t b = begin; b < end; ++b) {
        const std::span<const std::uint32_t> keys = keys_of(b);
        for (const std::uint32_t key : keys) sum.row(static_cast<Eigen::Index>(b)) += v.row(key);
        count[b] = keys.size();
      }
    });
  }
};

std::uint64_t sum_bytes(std::uint64_t buckets, Eigen::Index width) {
  return buckets * (u64(width) + 1) * sizeof(double);
}

/// The keys that fall into buckets of another table, grouped by bucket.
struct KeysByBucket {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint32_t> begins;  // buckets + 1

  /// bucket_of[j]: a bucket, or `buckets` for none.
  KeysByBucket(const std::vector<std::uint32_t>& bucket_of, std::uint64_t buckets)
      : keys(bucket_of.size()), begins(buckets + 2, 0) {
    for (const std::uint32_t bucket : bucket_of) ++begins[bucket + std::size_t{1}];
    for (std::size_t b = 1; b < begins.size(); ++b) begins[b] += begins[b - 1];
    std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
    for (std::size_t j = 0; j < bucket_of.size(); ++j) keys[next[bucket_of[j]]++] = static_cast<std::uint32_t>(j);
  }
  std::span<const std::uint32_t> of(std::uint64_t bucket) const {
    return {keys.data() + begins[bucket], keys.data() + begins[bucket + 1]};
  }
};

/// One table of Algorithm 1: the keys' buckets with their sums.
struct KeyTable {
  HashTable table;
  BucketSums sums;

  KeyTable(const CodeMatrix& codes, const View& v, const Execution& execution)
      : table(codes), sums(table.buckets(), v, execution, [this](std::uint64_t b) { return table.points(b); }) {}
};

class Anna {
 public:
  Anna(const AnnaParameters& parameters, const View& q, const View& k, const View& v, const Execution& execution)
      : p_(parameters), q_(q), k_(k), v_(v), inner_(execution), base_(Random(parameters.seed).split("table")) {
    inner_.progress = nullptr;  // progress is tables, not blocks
    result_.output = MatrixD::Zero(q.rows(), v.cols());
    result_.collisions.assign(static_cast<std::size_t>(q.rows()), 0);
    // What parallel hashing holds: a block of codes a thread.
    blocks_ = static_cast<std::uint64_t>(execution.thread_count()) * kHashBlock * code_bytes(1);
  }

  AnnaResult with_all_tables(const Execution& execution) {
    const ProgressScope progress(execution, "hash tables", 2 * p_.tables);
    std::vector<std::unique_ptr<const KeyTable>> tables;
    std::uint64_t held = 0;
    for (std::uint64_t u = 0; u < p_.tables; ++u) {
      inner_.check_stop();
      const CodeMatrix codes = hash_all(*draw(u), k_, p_.code_length, inner_);
      tables.push_back(std::make_unique<const KeyTable>(codes, v_, inner_));
      const HashTable& table = tables.back()->table;
      // While it is built: the codes, as many tuples, and the table itself.
      note_bytes(held + 2 * code_bytes(u64(codes.rows())) + table.bytes() + table.buckets() * sizeof(std::uint32_t));
      held += table.bytes() + sum_bytes(table.buckets(), v_.cols());
      note_bytes(held + code_bytes(u64(codes.rows())) + blocks_);
      progress.advance(1);
    }
    // The functions are drawn again rather than kept: they can be larger than the tables.
    for (std::uint64_t u = 0; u < p_.tables; ++u) {
      inner_.check_stop();
      const KeyTable& table = *tables[u];
      hash_blocks(*draw(u), q_, inner_, [&](Eigen::Index first, const CodeMatrix& codes) {
        for (Eigen::Index i = 0; i < codes.rows(); ++i) {
          const std::int64_t bucket = table.table.find(codes.data() + i * codes.cols());
          if (bucket != HashTable::kNoBucket) add(first + i, table.sums, static_cast<std::uint64_t>(bucket));
        }
      });
      note_bytes(held + blocks_);
      progress.advance(1);
    }
    return finish();
  }

  AnnaResult with_linear_memory(const Execution& execution) {
    const ProgressScope progress(execution, "hash tables", p_.tables);
    for (std::uint64_t u = 0; u < p_.tables; ++u) {
      inner_.check_stop();
      const auto tuple = draw(u);
      const HashTable table(hash_all(*tuple, q_, p_.code_length, inner_));
      const auto none = static_cast<std::uint32_t>(table.buckets());
      std::vector<std::uint32_t> bucket_of(static_cast<std::size_t>(k_.rows()));
      hash_blocks(*tuple, k_, inner_, [&](Eigen::Index first, const CodeMatrix& codes) {
        for (Eigen::Index j = 0; j < codes.rows(); ++j) {
          const std::int64_t bucket = table.find(codes.data() + j * codes.cols());
          bucket_of[static_cast<std::size_t>(first + j)] =
              bucket == HashTable::kNoBucket ? none : static_cast<std::uint32_t>(bucket);
        }
      });
      const KeysByBucket keys(bucket_of, table.buckets());
      const BucketSums sums(table.buckets(), v_, inner_, [&](std::uint64_t b) { return keys.of(b); });
      parallel_for(inner_, u64(q_.rows()), kQueryBlock, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) add(static_cast<Eigen::Index>(i), sums, table.bucket_of()[i]);
      });
      progress.advance(1);
    }
    count_linear_bytes();
    return finish();
  }

 private:
  std::unique_ptr<const ann::HashTuple> draw(std::uint64_t u) const {
    return p_.family.draw(p_.code_length, base_.split(u));
  }

  std::uint64_t code_bytes(std::uint64_t points) const { return points * p_.code_length * sizeof(std::int64_t); }

  void note_bytes(std::uint64_t now) { result_.peak_bytes = std::max(result_.peak_bytes, now); }

  /// How many buckets there are differs from table to table: what is counted is the most, one a query.
  void count_linear_bytes() {
    const std::uint64_t n = u64(q_.rows());
    const std::uint64_t n_k = u64(k_.rows());
    const std::uint64_t index = (std::bit_ceil(std::max<std::uint64_t>(2 * n, 2)) + 3 * n + 1) * sizeof(std::uint32_t);
    // While the table is built: codes, as many tuples, and the tuples that stay.
    note_bytes(3 * code_bytes(n) + index + n * sizeof(std::uint32_t) + blocks_);
    // While keys are added: the table, the sums, and for each key its bucket and its place.
    note_bytes(code_bytes(n) + index + sum_bytes(n, v_.cols()) + (2 * n_k + 2 * n + 3) * sizeof(std::uint32_t) +
               blocks_);
  }

  void add(Eigen::Index i, const BucketSums& sums, std::uint64_t bucket) {
    if (sums.count[bucket] == 0) return;
    result_.output.row(i) += sums.sum.row(static_cast<Eigen::Index>(bucket));
    result_.collisions[static_cast<std::size_t>(i)] += sums.count[bucket];
  }

  AnnaResult finish() {
    for (Eigen::Index i = 0; i < q_.rows(); ++i) {
      const std::uint64_t count = result_.collisions[static_cast<std::size_t>(i)];
      if (count > 0) result_.output.row(i) /= static_cast<double>(count);
    }
    return std::move(result_);
  }

  const AnnaParameters& p_;
  const View& q_;
  const View& k_;
  const View& v_;
  Execution inner_;
  Random base_;
  std::uint64_t blocks_ = 0;
  AnnaResult result_;
};

/// Adds 1 to the counts of these keys (ascending), which may be new.
void count_keys(AnnaCounts& counts, std::span<const std::uint32_t> keys) {
  AnnaCounts merged;
  merged.reserve(counts.size() + keys.size());
  auto old = counts.cbegin();
  for (const std::uint32_t key : keys) {
    while (old != counts.cend() && old->first < key) merged.push_back(*old++);
    if (old != counts.cend() && old->first == key) {
      merged.emplace_back(key, old->second + 1);
      ++old;
    } else {
      merged.emplace_back(key, 1);
    }
  }
  merged.insert(merged.end(), old, counts.cend());
  counts = std::move(merged);
}

}  // namespace

AnnaResult anna_attention(const AnnaParameters& parameters, const View& q, const View& k, const View& v,
                          AnnaMemory memory, const Execution& execution) {
  check_tables(parameters, q, k);
  check_values(parameters, k, v);
  Anna anna(parameters, q, k, v, execution);
  return memory == AnnaMemory::tables ? anna.with_all_tables(execution) : anna.with_linear_memory(execution);
}

std::vector<AnnaCounts> anna_counts(const AnnaParameters& parameters, const View& q, const View& k,
                                    const Execution& execution) {
  check_tables(parameters, q, k);
  std::vector<AnnaCounts> counts(static_cast<std::size_t>(q.rows()));
  const Random base = Random(parameters.seed).split("table");
  const ProgressScope progress(execution, "collision counts", parameters.tables);
  Execution inner = execution;
  inner.progress = nullptr;
  for (std::uint64_t u = 0; u < parameters.tables; ++u) {
    inner.check_stop();
    const auto tuple = parameters.family.draw(parameters.code_length, base.split(u));
    const HashTable keys(hash_all(*tuple, k, parameters.code_length, inner));
    hash_blocks(*tuple, q, inner, [&](Eigen::Index first, const CodeMatrix& codes) {
      for (Eigen::Index i = 0; i < codes.rows(); ++i) {
        const std::int64_t bucket = keys.find(codes.data() + i * codes.cols());
        if (bucket == HashTable::kNoBucket) continue;
        count_keys(counts[static_cast<std::size_t>(first + i)], keys.points(static_cast<std::uint64_t>(bucket)));
      }
    });
    progress.advance(1);
  }
  return counts;
}

}  // namespace subquad::attention
