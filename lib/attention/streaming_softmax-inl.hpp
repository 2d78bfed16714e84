// Streaming softmax for one SIMD target, the outer half: ranges of keys, blocks of queries, tiles of keys.
//
// Page: docs/kernels/streaming_softmax.md. Keys and values are packed once, shared by all threads, in ranges that fit a
// budget; between two ranges the running maximum, weight sum and unnormalised output of every query wait in memory.
//
// Included once per SIMD target: the guard below toggles on purpose.
#if defined(SUBQUAD_ATTENTION_STREAMING_SOFTMAX_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUBQUAD_ATTENTION_STREAMING_SOFTMAX_INL_HPP_
#undef SUBQUAD_ATTENTION_STREAMING_SOFTMAX_INL_HPP_
#else
#define SUBQUAD_ATTENTION_STREAMING_SOFTMAX_INL_HPP_
#endif

#include "streaming_softmax_tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace subquad::attention::HWY_NAMESPACE {

/// One call of the kernel.
template <class T, class S>
class StreamingSoftmax {
 public:
  explicit StreamingSoftmax(const StreamingSoftmaxTask<S>& task)
      : task_(task),
        d_(task.q.cols),
        one_column_(task.v.cols == 1),
        value_panels_(panels_for(task.v.cols)),
        value_columns_(value_panels_.vectors * kLanes<T>),
        range_(keys_per_range()),
        pool_(d_, value_columns_) {}

  void run() {
    const std::size_t n_k = task_.k.rows;
    const std::size_t padded_range = round_up(std::min(range_, n_k), kPanel<T>);
    packed_.k = TileBuffer<T>(padded_range * d_);
    packed_.v = TileBuffer<T>(padded_range * (one_column_ ? 1 : value_columns_));
    if (range_ < n_k) {
      waiting_max_.assign(task_.q.rows, T{0});
      waiting_sum_.assign(task_.q.rows, T{0});
    }
    const std::uint64_t ranges = (n_k - 1) / range_ + 1;
    const ProgressScope progress(*task_.execution, "exact attention", ranges * task_.q.rows);
    for (std::size_t first = 0; first < n_k; first += range_) {
      pack(first);
      parallel_for(*task_.execution, task_.q.rows, kQueryBlock,
                   [this](std::uint64_t begin, std::uint64_t end) { process_queries(begin, end); });
    }
  }

 private:
  static ValuePanels panels_for(std::size_t d_v) {
    const std::size_t vectors = (d_v - 1) / kLanes<T> + 1;
    return {(vectors - 1) / kVectors + 1, vectors};
  }

  /// Keys that fit the budget, a multiple of the key tile; at least one tile.
  std::size_t keys_per_range() const {
    const std::size_t key_bytes = (d_ + value_columns_) * sizeof(T);
    return std::max(task_.packed_bytes / key_bytes / kKeyTile, std::size_t{1}) * kKeyTile;
  }

  void pack(std::size_t first) {
    packed_.first = first;
    packed_.count = std::min(range_, task_.k.rows - first);
    packed_.padded = round_up(packed_.count, kPanel<T>);
    Execution quiet = *task_.execution;
    quiet.progress = nullptr;
    parallel_for(quiet, packed_.padded / kPanel<T>, 4, [this](std::uint64_t begin, std::uint64_t end) {
      for (std::size_t panel = begin; panel < end; ++panel) pack_panel<T, S>(task_, value_panels_, panel, packed_);
    });
  }

  void process_queries(std::size_t begin, std::size_t end) {
    std::unique_ptr<Scratch<T>> scratch = pool_.take();
    const std::size_t count = end - begin;
    const std::size_t rows = round_up(count, kRows);
    pack_queries<T, S>(task_, begin, count, *scratch);
    restore(begin, count, rows, *scratch);
    for (std::size_t tile = 0; tile < packed_.count; tile += kKeyTile) {
      const std::size_t keys = std::min(kKeyTile, packed_.count - tile);
      const std::size_t padded_keys = round_up(keys, kPanel<T>);
      logits(tile, padded_keys, rows, *scratch);
      hide_padding(keys, padded_keys, rows, *scratch);
      if (one_column_) {
        weigh_rows<T, true>(rows, padded_keys, packed_.v.data() + tile, *scratch);
      } else {
        weigh_rows<T, false>(rows, padded_keys, nullptr, *scratch);
        add_values(tile, keys, rows, *scratch);
      }
    }
    save(begin, count, *scratch);
    pool_.give_back(std::move(scratch));
  }

  /// weights: rows x padded_keys = q (rows x d) k^T. The panel is the outer loop: it stays in the first-level cache.
  void logits(std::size_t tile, std::size_t padded_keys, std::size_t rows, Scratch<T>& scratch) const {
    const std::size_t depth_blocks = std::max<std::size_t>((d_ + kDepthBlock - 1) / kDepthBlock, 1);
    const std::size_t depth = (d_ + depth_blocks - 1) / depth_blocks;
    for (std::size_t key = 0; key < padded_keys; key += kPanel<T>) {
      const T* panel = packed_.k.data() + (tile + key) * d_;
      for (std::size_t block = 0; block < depth_blocks; ++block) {
        const std::size_t c = std::min(block * depth, d_);
        for (std::size_t row = 0; row < rows; row += kRows) {
          logit_tile<T>(scratch.q.data() + row * d_ + c * kRows, panel + c * kPanel<T>, std::min(depth, d_ - c),
                        block > 0, scratch.weights.data() + row * kKeyTile + key);
        }
      }
    }
  }

  /// Keys that exist only to fill the last panel get the logit -inf, hence the weight 0.
  static void hide_padding(std::size_t keys, std::size_t padded_keys, std::size_t rows, Scratch<T>& scratch) {
    for (std::size_t r = 0; keys < padded_keys && r < rows; ++r) {
      T* row = scratch.weights.data() + r * kKeyTile;
      std::fill(row + keys, row + padded_keys, -std::numeric_limits<T>::infinity());
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
  bool last_range() const { return packed_.first + packed_.count == task_.k.rows; }

  /// Starts from nothing, or from what the previous range of keys left. Rows from `count` on are padding.
  void restore(std::size_t begin, std::size_t count, std::size_t rows, Scratch<T>& scratch) const {
    std::fill_n(scratch.running_max, rows, -std::numeric_limits<T>::infinity());
    std::fill_n(scratch.weight_sum.data(), rows * kLanes<T>, T{0});
    std::fill_n(scratch.value_sum.data(), rows * value_columns_, T{0});
    if (first_range()) return;
    for (std::size_t i = 0; i < count; ++i) {
      scratch.running_max[i] = waiting_max_[begin + i];
      scratch.weight_sum.data()[i * kLanes<T>] = waiting_sum_[begin + i];
      const S* output = task_.output + (begin + i) * task_.output_stride;
      for (std::size_t c = 0; c < task_.v.cols; ++c) {
        scratch.value_sum.data()[i * value_columns_ + c] = static_cast<T>(output[c]);
      }
    }
  }

  /// Leaves the state for the next range, or divides by the weight sum, which is at least 1 up to rounding.
  void save(std::size_t begin, std::size_t count, Scratch<T>& scratch) {
    for (std::size_t i = 0; i < count; ++i) {
      T* values = scratch.value_sum.data() + i * value_columns_;
      const T weight_sum = add_lanes<T>(scratch.weight_sum.data() + i * kLanes<T>);
      if (one_column_) values[0] = add_lanes<T>(values);
      if (!last_range()) {
        waiting_max_[begin + i] = scratch.running_max[i];
        waiting_sum_[begin + i] = weight_sum;
      }
      const T divisor = last_range() ? weight_sum : T{1};
      S* output = task_.output + (begin + i) * task_.output_stride;
      for (std::size_t c = 0; c < task_.v.cols; ++c) output[c] = static_cast<S>(values[c] / divisor);
    }
  }

  const StreamingSoftmaxTask<S>& task_;
  std::size_t d_;
  bool one_column_;
  ValuePanels value_panels_;
  std::size_t value_columns_;  // padded to whole vectors
  std::size_t range_;          // keys packed at a time
  ScratchPool<T> pool_;
  PackedKeys<T> packed_;
  std::vector<T> waiting_max_;
  std::vector<T> waiting_sum_;
};

// One entry point a target for each pair (arithmetic, storage): the table behind HWY_EXPORT cannot hold templates.
inline void streaming_softmax_float(const StreamingSoftmaxTask<float>& task) {
  StreamingSoftmax<float, float>(task).run();
}
inline void streaming_softmax_float_from_double(const StreamingSoftmaxTask<double>& task) {
  StreamingSoftmax<float, double>(task).run();
}
inline void streaming_softmax_double(const StreamingSoftmaxTask<double>& task) {
  StreamingSoftmax<double, double>(task).run();
}

}  // namespace subquad::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SUBQUAD_ATTENTION_STREAMING_SOFTMAX_INL_HPP_
