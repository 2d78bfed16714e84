// Gradients of exact attention for one SIMD target, the outer half: ranges, steps of tiles, accumulators.
//
// Page: docs/kernels/streaming_softmax_backward.md. Queries and keys are packed in ranges that fit a budget. Within a
// pair of ranges the tiles follow one order, which makes the result independent of the threads.
//
// Included once per SIMD target: the guard below toggles on purpose.
#if defined(SUBQUAD_ATTENTION_STREAMING_SOFTMAX_BACKWARD_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUBQUAD_ATTENTION_STREAMING_SOFTMAX_BACKWARD_INL_HPP_
#undef SUBQUAD_ATTENTION_STREAMING_SOFTMAX_BACKWARD_INL_HPP_
#else
#define SUBQUAD_ATTENTION_STREAMING_SOFTMAX_BACKWARD_INL_HPP_
#endif

#include "streaming_softmax_backward_order.hpp"
#include "streaming_softmax_backward_tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace subquad::attention::HWY_NAMESPACE {

/// Working memory of one thread: p and ds of one tile.
template <class T>
struct BackwardScratch {
  BackwardScratch() : p(kBackwardQueries * kKeyTile), ds(kBackwardQueries * kKeyTile) {
    std::fill_n(p.data(), p.size(), T{0});
    std::fill_n(ds.data(), ds.size(), T{0});
  }
  TileBuffer<T> p, ds;
};

/// One head of keys and values with its queries. Query blocks are counted through all heads of queries.
template <class T>
class StreamingBackward {
 public:
  explicit StreamingBackward(const StreamingBackwardTask<T>& task)
      : task_(&task),
        d_(task.q.cols),
        d_v_(task.v.cols),
        q_rows_(d_, kLanes<T>, kBackwardQueries),
        g_rows_(d_v_, kLanes<T>, kBackwardQueries),
        k_rows_(d_, kLanes<T>, kKeyTile),
        blocks_per_head_((task.q.rows - 1) / kBackwardQueries + 1),
        all_query_blocks_(blocks_per_head_ * task.query_heads),
        all_key_blocks_((task.k.rows - 1) / kKeyTile + 1) {
    const std::size_t query_bytes =
        ((d_ + d_v_) * kBackwardQueries + q_rows_.block_size() + g_rows_.block_size()) * sizeof(T);
    const std::size_t key_bytes = ((d_ + d_v_) * kKeyTile + k_rows_.block_size()) * sizeof(T);
    query_range_ = std::clamp<std::size_t>(task.packed_bytes / query_bytes, 1, all_query_blocks_);
    key_range_ = std::clamp<std::size_t>(task.packed_bytes / key_bytes, 1, all_key_blocks_);
    q_factors_ = TileBuffer<T>(query_range_ * kBackwardQueries * d_);
    g_factors_ = TileBuffer<T>(query_range_ * kBackwardQueries * d_v_);
    packed_q_ = TileBuffer<T>(query_range_ * q_rows_.block_size());
    packed_g_ = TileBuffer<T>(query_range_ * g_rows_.block_size());
    shifts_ = TileBuffer<T>(query_range_ * kBackwardQueries);
    means_ = TileBuffer<T>(query_range_ * kBackwardQueries);
    k_columns_ = TileBuffer<T>(key_range_ * kKeyTile * d_);
    v_columns_ = TileBuffer<T>(key_range_ * kKeyTile * d_v_);
    packed_k_ = TileBuffer<T>(key_range_ * k_rows_.block_size());
    bytes_ = query_range_ * query_bytes + key_range_ * key_bytes;
  }

  void start(const StreamingBackwardTask<T>& task) { task_ = &task; }
  std::size_t bytes() const { return bytes_; }
  std::size_t query_ranges() const { return (all_query_blocks_ - 1) / query_range_ + 1; }
  std::size_t key_ranges() const { return (all_key_blocks_ - 1) / key_range_ + 1; }
  std::size_t all_tiles() const { return all_query_blocks_ * all_key_blocks_; }

  /// Chooses the range that the other functions work on; returns its blocks.
  std::size_t choose_queries(std::size_t range) {
    first_query_block_ = range * query_range_;
    return query_blocks_ = std::min(query_range_, all_query_blocks_ - first_query_block_);
  }
  std::size_t choose_keys(std::size_t range) {
    first_key_block_ = range * key_range_;
    return key_blocks_ = std::min(key_range_, all_key_blocks_ - first_key_block_);
  }

  void pack_queries(std::size_t block) {
    const Queries queries = queries_of(block);
    T* q_factors = q_factors_.data() + block * kBackwardQueries * d_;
    T* g_factors = g_factors_.data() + block * kBackwardQueries * d_v_;
    T* q_block = packed_q_.data() + block * q_rows_.block_size();
    T* g_block = packed_g_.data() + block * g_rows_.block_size();
    for (std::size_t row = 0; row < kBackwardQueries; row += kRows) {
      const T* q[kRows] = {};
      const T* g[kRows] = {};
      for (std::size_t r = 0; r < kRows; ++r) {
        const std::size_t i = row + r;
        if (i < queries.count) {
          q[r] = task_->q_row(queries.head, queries.first + i);
          g[r] = task_->upstream_row(queries.head, queries.first + i);
        }
        pack_row<T>(q_rows_, q[r], d_, i, q_block);
        pack_row<T>(g_rows_, g[r], d_v_, i, g_block);
        shifts_.data()[block * kBackwardQueries + i] = i < queries.count ? shift(queries, i) : T{0};
        means_.data()[block * kBackwardQueries + i] = i < queries.count ? mean(queries, i, g[r]) : T{0};
      }
      pack_factors<T>(q, d_, task_->scale * std::numbers::log2e, q_factors + row * d_);
      pack_factors<T>(g, d_v_, task_->scale, g_factors + row * d_v_);
    }
  }

  void pack_keys(std::size_t block) {
    const std::size_t first = (first_key_block_ + block) * kKeyTile;
    const std::size_t end = std::min(first + kKeyTile, task_->k.rows);
    for (std::size_t key = 0; key < kKeyTile; key += kPanel<T>) {
      pack_columns<T>(task_->k, first + key, end, k_columns_.data() + (block * kKeyTile + key) * d_);
      pack_columns<T>(task_->v, first + key, end, v_columns_.data() + (block * kKeyTile + key) * d_v_);
    }
    T* rows = packed_k_.data() + block * k_rows_.block_size();
    for (std::size_t j = 0; j < kKeyTile; ++j) {
      pack_row<T>(k_rows_, first + j < end ? task_->k.row(first + j) : nullptr, d_, j, rows);
    }
  }

  /// Clears the accumulators of the parts after the first, whose accumulator is the gradient itself.
  void clear_parts(const BackwardSchedule& schedule) {
    const std::size_t rows = schedule.short_blocks() * short_rows(schedule);
    part_size_ = rows * (schedule.keys_are_short() ? d_ + d_v_ : d_);
    const std::size_t size = (schedule.parts() - 1) * part_size_;
    if (part_sums_.size() < size) part_sums_ = TileBuffer<T>(size);
    std::fill_n(part_sums_.data(), size, T{0});
    part_rows_ = rows;
  }

  /// Adds the accumulators of the parts of one short block to the gradients.
  void add_parts(const BackwardSchedule& schedule, std::size_t block) {
    for (std::size_t part = 1; part < schedule.parts(); ++part) {
      if (schedule.keys_are_short()) {
        const std::size_t count = keys_of(block);
        add(grad_k(block, part), d_, count, grad_k(block, 0));
        add(grad_v(block, part), d_v_, count, grad_v(block, 0));
      } else {
        add(grad_q(block, part), d_, queries_of(block).count, grad_q(block, 0));
      }
    }
  }

  /// True if some query of the tile sees some of its keys.
  bool is_seen(const BackwardTile& tile) const {
    const Queries queries = queries_of(tile.query_block);
    return task_->visible(queries.first + queries.count - 1) > (first_key_block_ + tile.key_block) * kKeyTile;
  }

  /// Adds what one tile contributes to the gradients of its queries and its keys.
  void process(const BackwardSchedule& schedule, const BackwardTile& tile, BackwardScratch<T>& scratch) {
    const Queries queries = queries_of(tile.query_block);
    const std::size_t first_key = (first_key_block_ + tile.key_block) * kKeyTile;
    // Under a causal mask the last query sees the most keys, and the first queries may see none of these.
    const std::size_t keys =
        std::min(keys_of(tile.key_block), task_->visible(queries.first + queries.count - 1) - first_key);
    const std::size_t padded_keys = round_up(keys, kPanel<T>);
    std::size_t first_row = 0;
    while (task_->visible(queries.first + first_row) <= first_key) ++first_row;
    first_row -= first_row % kRows;
    const std::size_t rows = round_up(queries.count, kRows);
    T* p = scratch.p.data();
    T* ds = scratch.ds.data();
    logit_block<T>(q_factors_.data() + tile.query_block * kBackwardQueries * d_,
                   k_columns_.data() + tile.key_block * kKeyTile * d_, d_, first_row, rows, padded_keys, p);
    logit_block<T>(g_factors_.data() + tile.query_block * kBackwardQueries * d_v_,
                   v_columns_.data() + tile.key_block * kKeyTile * d_v_, d_v_, first_row, rows, padded_keys, ds);
    for (std::size_t r = first_row; r < rows; ++r) {
      const std::size_t visible = task_->visible(queries.first + std::min(r, queries.count - 1));
      const std::size_t seen = visible <= first_key ? 0 : std::min(visible - first_key, keys);
      std::fill(p + r * kKeyTile + seen, p + r * kKeyTile + padded_keys, -std::numeric_limits<T>::infinity());
    }
    weigh_tile<T>(first_row, rows, padded_keys, shifts_.data() + tile.query_block * kBackwardQueries,
                  means_.data() + tile.query_block * kBackwardQueries, p, ds);
    const bool keys_short = schedule.keys_are_short();
    const std::size_t key_part = keys_short ? tile.part : 0;
    const std::size_t query_part = keys_short ? 0 : tile.part;
    accumulate_block<T, true>(p, packed_g_.data() + tile.query_block * g_rows_.block_size(), g_rows_, first_row,
                              rows - first_row, 0, keys, d_v_, grad_v(tile.key_block, key_part));
    accumulate_block<T, true>(ds, packed_q_.data() + tile.query_block * q_rows_.block_size(), q_rows_, first_row,
                              rows - first_row, 0, keys, d_, grad_k(tile.key_block, key_part));
    accumulate_block<T, false>(ds, packed_k_.data() + tile.key_block * k_rows_.block_size(), k_rows_, 0, keys,
                               first_row, queries.count, d_, grad_q(tile.query_block, query_part));
  }

 private:
  struct Queries {
    std::size_t head;
    std::size_t first;
    std::size_t count;
  };

  Queries queries_of(std::size_t block) const {
    const std::size_t all = first_query_block_ + block;
    const std::size_t first = all % blocks_per_head_ * kBackwardQueries;
    return {all / blocks_per_head_, first, std::min(kBackwardQueries, task_->q.rows - first)};
  }
  std::size_t keys_of(std::size_t block) const {
    return std::min(kKeyTile, task_->k.rows - (first_key_block_ + block) * kKeyTile);
  }
  static std::size_t short_rows(const BackwardSchedule& schedule) {
    return schedule.keys_are_short() ? kKeyTile : kBackwardQueries;
  }

  T shift(const Queries& queries, std::size_t i) const {
    return static_cast<T>(task_->log_sum_exp[queries.head * task_->q.rows + queries.first + i] * std::numbers::log2e);
  }
  T mean(const Queries& queries, std::size_t i, const T* g) const {
    const T* output = task_->output_row(queries.head, queries.first + i);
    double sum = 0;
    for (std::size_t c = 0; c < d_v_; ++c) sum += static_cast<double>(g[c]) * static_cast<double>(output[c]);
    return static_cast<T>(sum * task_->scale);
  }

  // Where a block's gradient is summed: in the caller's matrix, or in the accumulator of a part. The latter holds the
  // rows of all short blocks, of grad_q, or of grad_k and then grad_v.
  MatrixTarget<T> grad_q(std::size_t block, std::size_t part) {
    if (part > 0) return {part_sum(part) + block * kBackwardQueries * d_, d_};
    const Queries queries = queries_of(block);
    return {task_->grad_q_row(queries.head, queries.first), task_->grad_q.row_stride};
  }
  MatrixTarget<T> grad_k(std::size_t block, std::size_t part) {
    if (part > 0) return {part_sum(part) + block * kKeyTile * d_, d_};
    return {task_->grad_k.data + (first_key_block_ + block) * kKeyTile * task_->grad_k.row_stride,
            task_->grad_k.row_stride};
  }
  MatrixTarget<T> grad_v(std::size_t block, std::size_t part) {
    if (part > 0) return {part_sum(part) + part_rows_ * d_ + block * kKeyTile * d_v_, d_v_};
    return {task_->grad_v.data + (first_key_block_ + block) * kKeyTile * task_->grad_v.row_stride,
            task_->grad_v.row_stride};
  }
  T* part_sum(std::size_t part) { return part_sums_.data() + (part - 1) * part_size_; }

  static void add(const MatrixTarget<T>& from, std::size_t cols, std::size_t rows, const MatrixTarget<T>& to) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < cols; ++c) to.data[i * to.row_stride + c] += from.data[i * from.row_stride + c];
    }
  }

  const StreamingBackwardTask<T>* task_;
  std::size_t d_, d_v_;
  RowLayout q_rows_, g_rows_, k_rows_;
  std::size_t blocks_per_head_, all_query_blocks_, all_key_blocks_;
  std::size_t query_range_ = 1, key_range_ = 1, bytes_ = 0;
  std::size_t first_query_block_ = 0, query_blocks_ = 0, first_key_block_ = 0, key_blocks_ = 0;
  TileBuffer<T> q_factors_, g_factors_;  // [block][register tile][coordinate][kRows], times the scale
  TileBuffer<T> packed_q_, packed_g_;    // [block] as RowLayout
  TileBuffer<T> shifts_, means_;         // [block][query]: base-2 log-sum-exp, scale <G, O>
  TileBuffer<T> k_columns_, v_columns_;  // [block][panel][coordinate][kPanel]
  TileBuffer<T> packed_k_;               // [block] as RowLayout
  TileBuffer<T> part_sums_;
  std::size_t part_size_ = 0, part_rows_ = 0;
};

/// All tasks of one call, which have the same shape. Each is computed as if it were alone.
template <class T>
void run_streaming_backward(const StreamingBackwardTask<T>* tasks, std::size_t count) {
  const Execution& execution = *tasks->execution;
  std::vector<StreamingBackward<T>> heads;
  heads.reserve(count);  // an upper bound
  heads.emplace_back(tasks[0]);
  const std::size_t at_once = std::clamp<std::size_t>(2 * tasks->packed_bytes / (heads[0].bytes() + 1), 1, count);
  while (heads.size() < at_once) heads.emplace_back(tasks[heads.size()]);
  const ProgressScope progress(execution, "attention gradients", count * heads[0].all_tiles());
  Execution quiet = execution;
  quiet.progress = nullptr;
  ScratchPool<BackwardScratch<T>> pool;
  for (std::size_t first = 0; first < count; first += at_once) {
    const std::size_t together = std::min(at_once, count - first);
    for (std::size_t h = 0; h < together; ++h) heads[h].start(tasks[first + h]);
    const auto for_all = [&](std::size_t blocks, const auto& work) {
      parallel_for(quiet, together * blocks, 1,
                   [&](std::uint64_t item, std::uint64_t) { work(heads[item / blocks], item % blocks); });
    };
    for (std::size_t query_range = 0; query_range < heads[0].query_ranges(); ++query_range) {
      std::size_t query_blocks = 0;
      for (std::size_t h = 0; h < together; ++h) query_blocks = heads[h].choose_queries(query_range);
      for_all(query_blocks, [](StreamingBackward<T>& head, std::size_t block) { head.pack_queries(block); });
      for (std::size_t key_range = 0; key_range < heads[0].key_ranges(); ++key_range) {
        std::size_t key_blocks = 0;
        for (std::size_t h = 0; h < together; ++h) key_blocks = heads[h].choose_keys(key_range);
        for_all(key_blocks, [](StreamingBackward<T>& head, std::size_t block) { head.pack_keys(block); });
        const BackwardSchedule schedule(query_blocks, key_blocks);
        for_all(1, [&](StreamingBackward<T>& head, std::size_t) { head.clear_parts(schedule); });
        BackwardOrder order(schedule, together, query_blocks, key_blocks);
        const auto is_seen = [&](std::size_t h, const BackwardTile& tile) { return heads[h].is_seen(tile); };
        parallel_for(quiet, together * query_blocks * key_blocks, 1, [&](std::uint64_t, std::uint64_t) {
          auto scratch = pool.take();  // before the claim: nothing may throw between a claim and its finish
          std::size_t passed = 0;
          if (const auto claim = order.next(is_seen, passed)) {
            order.wait(*claim);
            heads[claim->head].process(schedule, claim->tile, *scratch);
            order.finish(*claim);
            ++passed;
          }
          if (passed > 0) progress.advance(passed);
          pool.give_back(std::move(scratch));
        });
        for_all(schedule.short_blocks(),
                [&](StreamingBackward<T>& head, std::size_t block) { head.add_parts(schedule, block); });
      }
    }
  }
}

// One entry point a target for each arithmetic: the table behind HWY_EXPORT cannot hold templates.
inline void streaming_backward_float(const StreamingBackwardTask<float>* tasks, std::size_t count) {
  run_streaming_backward<float>(tasks, count);
}
inline void streaming_backward_double(const StreamingBackwardTask<double>* tasks, std::size_t count) {
  run_streaming_backward<double>(tasks, count);
}

}  // namespace subquad::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SUBQUAD_ATTENTION_STREAMING_SOFTMAX_BACKWARD_INL_HPP_
