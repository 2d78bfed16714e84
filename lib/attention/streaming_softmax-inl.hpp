// Streaming softmax for one SIMD target, the outer half: ranges of keys, blocks of queries, tiles of keys.
//
// Page: docs/kernels/streaming_softmax.md. Keys and values are packed once, shared by all threads, in ranges that fit a
// budget; between two ranges the running maximum, weight sum and unnormalised output of every query wait in memory.
// Several heads of keys and values are worked on at once, as many as fit the budget together.
//
// Included once per SIMD target: the guard below toggles on purpose.
#if defined(SUBQUAD_ATTENTION_STREAMING_SOFTMAX_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUBQUAD_ATTENTION_STREAMING_SOFTMAX_INL_HPP_
#undef SUBQUAD_ATTENTION_STREAMING_SOFTMAX_INL_HPP_
#else
#define SUBQUAD_ATTENTION_STREAMING_SOFTMAX_INL_HPP_
#endif

#include "streaming_softmax_tiles-inl.hpp"

#include <cmath>
#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace subquad::attention::HWY_NAMESPACE {

/// One head of keys and values with its queries.
template <class T, class S>
class StreamingSoftmax {
 public:
  explicit StreamingSoftmax(const StreamingSoftmaxTask<S>& task)
      : task_(&task),
        d_(task.q.cols),
        one_column_(task.v.cols == 1),
        value_panels_(panels_for(task.v.cols)),
        value_columns_(value_panels_.vectors * kLanes<T>),
        range_(keys_per_range()),
        padded_range_(round_up(std::min(range_, task.k.rows), kPanel<T>)) {
    packed_.k = TileBuffer<T>(padded_range_ * d_);
    packed_.v = TileBuffer<T>(padded_range_ * (one_column_ ? 1 : value_columns_));
  }

  std::size_t ranges() const { return (task_->k.rows - 1) / range_ + 1; }
  std::size_t packed_bytes() const { return (packed_.k.size() + packed_.v.size()) * sizeof(T); }
  std::size_t blocks_per_head() const { return (task_->q.rows - 1) / kQueryBlock + 1; }

  /// Turns to another task of the same shape.
  void start(const StreamingSoftmaxTask<S>& task) {
    task_ = &task;
    if (ranges() > 1) {
      waiting_max_.assign(task.query_heads * task.q.rows, T{0});
      waiting_sum_.assign(task.query_heads * task.q.rows, T{0});
    }
  }

  /// Sets the range of keys that pack_panel and process work on; returns the number of its panels.
  std::size_t choose_range(std::size_t range) {
    packed_.first = range * range_;
    packed_.count = std::min(range_, task_->k.rows - packed_.first);
    packed_.padded = round_up(packed_.count, kPanel<T>);
    return packed_.padded / kPanel<T>;
  }

  void pack(std::size_t panel) { pack_panel<T, S>(*task_, value_panels_, panel, packed_); }

  /// Processes one block of queries of one head; returns the number of its queries.
  std::size_t process(std::size_t head, std::size_t block, ScratchPool<Scratch<T>>& pool) {
    const std::size_t begin = block * kQueryBlock;
    const std::size_t count = std::min(kQueryBlock, task_->q.rows - begin);
    // Under a causal mask the last query of the block sees the most.
    const std::size_t seen = task_->visible(begin + count - 1);
    if (seen <= packed_.first && !last_range()) return count;
    std::unique_ptr<Scratch<T>> scratch = pool.take(d_, value_columns_);
    const std::size_t rows = round_up(count, kRows);
    pack_queries<T, S>(*task_, head, begin, count, *scratch);
    restore(head, begin, count, rows, *scratch);
    const std::size_t end = seen <= packed_.first ? 0 : std::min(packed_.count, seen - packed_.first);
    for (std::size_t tile = 0; tile < end; tile += kKeyTile) {
      const std::size_t keys = std::min(kKeyTile, end - tile);
      const std::size_t padded_keys = round_up(keys, kPanel<T>);
      logit_block<T>(scratch->q.data(), packed_.k.data() + tile * d_, d_, 0, rows, padded_keys,
                     scratch->weights.data());
      hide_padding(keys, padded_keys, rows, *scratch);
      hide_unseen(begin, count, tile, keys, *scratch);
      if (one_column_) {
        weigh_rows<T, true>(rows, padded_keys, packed_.v.data() + tile, *scratch);
      } else {
        weigh_rows<T, false>(rows, padded_keys, nullptr, *scratch);
        add_values(tile, keys, rows, *scratch);
      }
    }
    save(head, begin, count, *scratch);
    pool.give_back(std::move(scratch));
    return count;
  }

 private:
  static ValuePanels panels_for(std::size_t d_v) {
    const std::size_t vectors = (d_v - 1) / kLanes<T> + 1;
    return {(vectors - 1) / kVectors + 1, vectors};
  }

  /// Keys that fit the budget, a multiple of the key tile; at least one tile.
  std::size_t keys_per_range() const {
    const std::size_t key_bytes = (d_ + value_columns_) * sizeof(T);
    return std::max(task_->packed_bytes / key_bytes / kKeyTile, std::size_t{1}) * kKeyTile;
  }

  /// Keys that exist only to fill the last panel get the logit -inf, hence the weight 0.
  static void hide_padding(std::size_t keys, std::size_t padded_keys, std::size_t rows, Scratch<T>& scratch) {
    for (std::size_t r = 0; keys < padded_keys && r < rows; ++r) {
      T* row = scratch.weights.data() + r * kKeyTile;
      std::fill(row + keys, row + padded_keys, -std::numeric_limits<T>::infinity());
    }
  }

  /// Keys beyond a query's mask get the same. A query that sees none of the tile adds nothing: its maximum is finite
  /// already, because every query sees key 0.
  void hide_unseen(std::size_t begin, std::size_t count, std::size_t tile, std::size_t keys,
                   Scratch<T>& scratch) const {
    if (!task_->mask.causal) return;
    const std::size_t first_key = packed_.first + tile;
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t seen = task_->visible(begin + r);
      if (seen >= first_key + keys) break;  // and so do all later queries
      T* row = scratch.weights.data() + r * kKeyTile;
      std::fill(row + (seen > first_key ? seen - first_key : 0), row + keys, -std::numeric_limits<T>::infinity());
    }
  }

  void add_values(std::size_t tile, std::size_t keys, std::size_t rows, Scratch<T>& scratch) const {
    for (std::size_t p = 0; p < value_panels_.panels; ++p) {
      const std::size_t column = value_panels_.begin(p) * kLanes<T>;
      const std::size_t width = value_panels_.width(p);
      const T* v = packed_.v.data() + column * packed_.padded + tile * width * kLanes<T>;
      for (std::size_t row = 0; row < rows; row += kRows) {
        const T* weights = scratch.weights.data() + row * kKeyTile;
        const T* correction = scratch.correction + row;
        T* sums = scratch.value_sum.data() + row * value_columns_ + column;
        if (width == 1) value_tile<T, 1>(weights, v, keys, correction, sums, value_columns_);
        if (width == 2) value_tile<T, 2>(weights, v, keys, correction, sums, value_columns_);
        if (width == 3) value_tile<T, 3>(weights, v, keys, correction, sums, value_columns_);
      }
    }
  }

  bool first_range() const { return packed_.first == 0; }
  bool last_range() const { return packed_.first + packed_.count == task_->k.rows; }

  /// Starts from nothing, or from what the previous range of keys left. Rows from `count` on are padding.
  void restore(std::size_t head, std::size_t begin, std::size_t count, std::size_t rows, Scratch<T>& scratch) const {
    std::fill_n(scratch.running_max, rows, -std::numeric_limits<T>::infinity());
    std::fill_n(scratch.weight_sum.data(), rows * kLanes<T>, T{0});
    std::fill_n(scratch.value_sum.data(), rows * value_columns_, T{0});
    if (first_range()) return;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = head * task_->q.rows + begin + i;
      scratch.running_max[i] = waiting_max_[place];
      scratch.weight_sum.data()[i * kLanes<T>] = waiting_sum_[place];
      const S* output = task_->output_row(head, begin + i);
      for (std::size_t c = 0; c < task_->v.cols; ++c) {
        scratch.value_sum.data()[i * value_columns_ + c] = static_cast<T>(output[c]);
      }
    }
  }

  /// Leaves the state for the next range, or divides by the weight sum, which is at least 1 up to rounding.
  void save(std::size_t head, std::size_t begin, std::size_t count, Scratch<T>& scratch) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = head * task_->q.rows + begin + i;
      T* values = scratch.value_sum.data() + i * value_columns_;
      const T weight_sum = add_lanes<T>(scratch.weight_sum.data() + i * kLanes<T>);
      if (one_column_) values[0] = add_lanes<T>(values);
      if (!last_range()) {
        waiting_max_[place] = scratch.running_max[i];
        waiting_sum_[place] = weight_sum;
      } else if (task_->log_sum_exp != nullptr) {
        task_->log_sum_exp[place] =
            (static_cast<double>(scratch.running_max[i]) + std::log2(static_cast<double>(weight_sum))) *
            std::numbers::ln2;
      }
      const T divisor = last_range() ? weight_sum : T{1};
      S* output = task_->output_row(head, begin + i);
      for (std::size_t c = 0; c < task_->v.cols; ++c) output[c] = static_cast<S>(values[c] / divisor);
    }
  }

  const StreamingSoftmaxTask<S>* task_;
  std::size_t d_;
  bool one_column_;
  ValuePanels value_panels_;
  std::size_t value_columns_;  // padded to whole vectors
  std::size_t range_;          // keys packed at a time
  std::size_t padded_range_;
  PackedKeys<T> packed_;
  std::vector<T> waiting_max_;
  std::vector<T> waiting_sum_;
};

/// All tasks of one call, which have the same shape. Each is computed as if it were alone: how many share the budget
/// changes no bit.
template <class T, class S>
void run_streaming_softmax(const StreamingSoftmaxTask<S>* tasks, std::size_t count) {
  const Execution& execution = *tasks->execution;
  std::vector<StreamingSoftmax<T, S>> heads;
  heads.reserve(count);  // an upper bound
  heads.emplace_back(tasks[0]);
  const std::size_t at_once = std::clamp<std::size_t>(tasks->packed_bytes / (heads[0].packed_bytes() + 1), 1, count);
  while (heads.size() < at_once) heads.emplace_back(tasks[heads.size()]);
  ScratchPool<Scratch<T>> pool;
  const std::size_t ranges = heads[0].ranges();
  const std::size_t blocks = heads[0].blocks_per_head();
  const std::size_t query_heads = tasks->query_heads;
  const ProgressScope progress(execution, "exact attention", ranges * count * query_heads * tasks->q.rows);
  Execution quiet = execution;
  quiet.progress = nullptr;
  for (std::size_t first = 0; first < count; first += at_once) {
    const std::size_t together = std::min(at_once, count - first);
    for (std::size_t h = 0; h < together; ++h) heads[h].start(tasks[first + h]);
    for (std::size_t range = 0; range < ranges; ++range) {
      std::size_t panels = 0;
      for (std::size_t h = 0; h < together; ++h) panels = heads[h].choose_range(range);
      parallel_for(quiet, together * panels, 4, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::size_t p = begin; p < end; ++p) heads[p / panels].pack(p % panels);
      });
      parallel_for(quiet, together * query_heads * blocks, 1, [&](std::uint64_t item, std::uint64_t) {
        const std::size_t row = item / blocks;
        progress.advance(heads[row / query_heads].process(row % query_heads, item % blocks, pool));
      });
    }
  }
}

// One entry point a target for each pair (arithmetic, storage): the table behind HWY_EXPORT cannot hold templates.
inline void streaming_softmax_float(const StreamingSoftmaxTask<float>* tasks, std::size_t count) {
  run_streaming_softmax<float, float>(tasks, count);
}
inline void streaming_softmax_float_from_double(const StreamingSoftmaxTask<double>* tasks, std::size_t count) {
  run_streaming_softmax<float, double>(tasks, count);
}
inline void streaming_softmax_double(const StreamingSoftmaxTask<double>* tasks, std::size_t count) {
  run_streaming_softmax<double, double>(tasks, count);
}

}  // namespace subquad::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SUBQUAD_ATTENTION_STREAMING_SOFTMAX_INL_HPP_
