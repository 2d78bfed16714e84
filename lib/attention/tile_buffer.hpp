// Aligned working memory of the kernels, on huge pages where the system has them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace subquad::attention {

/// An uninitialised array of `size` numbers, aligned for every SIMD target.
template <class T>
class TileBuffer {
 public:
  TileBuffer() = default;
  explicit TileBuffer(std::size_t size) : size_(size), data_(allocate(size)) {}

  T* data() noexcept { return data_.get(); }
  const T* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }

 private:
  struct Free {
    void operator()(T* pointer) const noexcept { std::free(pointer); }
  };

  // First touch of a fresh 4 KiB page costs microseconds on virtual machines; a 2 MiB page costs hardly more.
  static constexpr std::size_t kHugePageBytes = std::size_t{1} << 21;
  static constexpr std::size_t kAlignment = 128;

  static T* allocate(std::size_t size) {
    const std::size_t alignment = size * sizeof(T) >= kHugePageBytes ? kHugePageBytes : kAlignment;
    const std::size_t bytes = (size * sizeof(T) + alignment) / alignment * alignment;  // never zero
    void* pointer = std::aligned_alloc(alignment, bytes);
    if (pointer == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (alignment == kHugePageBytes) (void)madvise(pointer, bytes, MADV_HUGEPAGE);  // a hint: failure changes nothing
#endif
    return static_cast<T*>(pointer);
  }

  std::size_t size_ = 0;
  std::unique_ptr<T, Free> data_;
};

}  // namespace subquad::attention
