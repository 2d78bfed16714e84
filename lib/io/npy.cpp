#include "npy_header.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/output_file.hpp>
#include <subquad/io/npy.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <istream>
#include <limits>
#include <ostream>
#include <vector>

namespace subquad::io {
namespace {

constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;

/// Rows and columns of the matrix, and its data's size in bytes.
struct Extent {
  std::uint64_t rows;
  std::uint64_t cols;
  std::uint64_t bytes;
};

Extent extent_of(const NpyHeader& header, const std::string& name, NpyVector vector) {
  const std::size_t dimensions = header.shape.size();
  require(dimensions != 1 || vector == NpyVector::as_column, ErrorKind::input,
          "{}: shape ({},) is a vector, expected a matrix (rows, columns)", name,
          dimensions == 1 ? header.shape[0] : 0);
  require(dimensions == 1 || dimensions == 2, ErrorKind::input, "{}: {} dimensions, expected 2 (rows, columns)", name,
          dimensions);
  const std::uint64_t rows = header.shape[0], cols = dimensions == 2 ? header.shape[1] : 1;
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  require(rows == 0 || cols <= kLargest / header.item_bytes / rows, ErrorKind::input,
          "{}: shape ({}, {}) has more bytes than 63 bits can count", name, rows, cols);
  return {rows, cols, rows * cols * header.item_bytes};
}

/// Bytes from here to the end, or nothing where the stream cannot tell (a pipe).
std::optional<std::uint64_t> remaining_bytes(std::istream& in) {
  const std::istream::pos_type here = in.tellg();
  if (here == std::istream::pos_type(-1)) {
    in.clear(in.rdstate() & ~std::ios::failbit);
    return std::nullopt;
  }
  in.seekg(0, std::ios::end);
  const std::istream::pos_type end = in.tellg();
  in.clear();
  in.seekg(here);
  if (end == std::istream::pos_type(-1) || end < here) return std::nullopt;
  return static_cast<std::uint64_t>(end - here);
}

void require_exact_size(std::uint64_t got, const Extent& extent, const std::string& name) {
  require(got >= extent.bytes, ErrorKind::input, "{}: truncated: {} bytes of data, shape ({}, {}) needs {}", name, got,
          extent.rows, extent.cols, extent.bytes);
  require(got == extent.bytes, ErrorKind::input, "{}: bytes after the data: shape ({}, {}) needs {} bytes", name,
          extent.rows, extent.cols, extent.bytes);
}

template <class Word>
Word swapped(Word word) {
  Word result = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i) result = static_cast<Word>(result << 8 | (word >> (8 * i) & 0xff));
  return result;
}

/// One element from its bytes. File is float or double.
template <class File, class Scalar>
Scalar element(const char* bytes, bool swap) {
  using Word = std::conditional_t<sizeof(File) == 4, std::uint32_t, std::uint64_t>;
  Word word;
  std::memcpy(&word, bytes, sizeof(Word));
  return static_cast<Scalar>(std::bit_cast<File>(swap ? swapped(word) : word));
}

/// Puts elements, in the file's order, where they belong.
template <class Scalar>
class Placer {
 public:
  Placer(const NpyHeader& header, problems::RowMajorMatrix<Scalar>& matrix) : header_(header), matrix_(matrix) {}

  void operator()(const char* bytes, std::uint64_t count) {
    const bool swap = header_.big_endian != (std::endian::native == std::endian::big);
    for (std::uint64_t i = 0; i < count; ++i, ++next_, bytes += header_.item_bytes) {
      const auto index = static_cast<Eigen::Index>(next_);
      Scalar& place =
          header_.fortran_order ? matrix_(index % matrix_.rows(), index / matrix_.rows()) : matrix_.data()[index];
      if constexpr (sizeof(Scalar) == 4) {
        place = element<float, Scalar>(bytes, swap);
      } else {
        place = header_.item_bytes == 4 ? element<float, Scalar>(bytes, swap) : element<double, Scalar>(bytes, swap);
      }
    }
  }

 private:
  const NpyHeader& header_;
  problems::RowMajorMatrix<Scalar>& matrix_;
  std::uint64_t next_ = 0;
};

/// Reads up to `limit` bytes; fewer only at the end of the stream.
std::uint64_t read_some(std::istream& in, char* bytes, std::uint64_t limit) {
  in.read(bytes, static_cast<std::streamsize>(limit));
  return static_cast<std::uint64_t>(in.gcount());
}

/// The data of a stream that cannot tell its size: memory grows with what arrives, not with what the header claims.
std::vector<char> read_pipe(std::istream& in, const Extent& extent, const std::string& name) {
  std::vector<char> data;
  for (;;) {
    const std::uint64_t wanted = std::min(kChunkBytes, extent.bytes + 1 - data.size());
    const std::size_t before = data.size();
    data.resize(before + wanted);
    const std::uint64_t got = read_some(in, data.data() + before, wanted);
    data.resize(before + got);
    if (got < wanted || data.size() > extent.bytes) break;
  }
  require_exact_size(data.size(), extent, name);
  return data;
}

template <class Scalar>
void write_matrix(std::ostream& out, const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& matrix) {
  static_assert(std::endian::native == std::endian::little, "write_npy writes the machine's own order as '<'");
  out << npy_header_bytes(sizeof(Scalar), static_cast<std::uint64_t>(matrix.rows()),
                          static_cast<std::uint64_t>(matrix.cols()));
  const auto row_bytes = static_cast<std::streamsize>(matrix.cols()) * static_cast<std::streamsize>(sizeof(Scalar));
  for (Eigen::Index i = 0; i < matrix.rows() && row_bytes > 0; ++i) {
    out.write(reinterpret_cast<const char*>(matrix.data() + i * matrix.outerStride()), row_bytes);
  }
}

template <class Scalar>
void write_file(const std::string& path, const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& matrix,
                const Provenance& provenance) {
  OutputFile file(path, /*binary=*/true);
  write_matrix<Scalar>(file.stream(), matrix);
  if (path != "-") {
    OutputFile sidecar(path + ".provenance");
    for (const std::string& line : provenance.lines()) sidecar.stream() << line << '\n';
    sidecar.commit();
  }
  file.commit();
}

}  // namespace

template <class Scalar>
problems::RowMajorMatrix<Scalar> read_npy(std::istream& in, const std::string& name, NpyVector vector) {
  const NpyHeader header = read_npy_header(in, name);
  require(sizeof(Scalar) >= header.item_bytes, ErrorKind::input,
          "{}: float64 data would be rounded to float32, expected a float32 file", name);
  const Extent extent = extent_of(header, name, vector);
  problems::RowMajorMatrix<Scalar> matrix;
  const auto allocate = [&] {
    matrix.resize(static_cast<Eigen::Index>(extent.rows), static_cast<Eigen::Index>(extent.cols));
  };
  Placer<Scalar> place(header, matrix);
  const std::optional<std::uint64_t> remaining = remaining_bytes(in);
  if (!remaining) {
    const std::vector<char> data = read_pipe(in, extent, name);
    allocate();
    place(data.data(), extent.bytes / header.item_bytes);
    return matrix;
  }
  require_exact_size(*remaining, extent, name);
  allocate();
  std::vector<char> chunk(std::min(kChunkBytes, extent.bytes));
  for (std::uint64_t done = 0; done < extent.bytes; done += chunk.size()) {
    chunk.resize(std::min<std::uint64_t>(chunk.size(), extent.bytes - done));
    const std::uint64_t got = read_some(in, chunk.data(), chunk.size());
    require(got == chunk.size(), ErrorKind::input, "{}: reading failed after {} bytes of data", name, done + got);
    place(chunk.data(), chunk.size() / header.item_bytes);
  }
  return matrix;
}

template <class Scalar>
problems::RowMajorMatrix<Scalar> read_npy_file(const std::string& path, NpyVector vector) {
  std::ifstream in(path, std::ios::binary);
  require(in.is_open(), ErrorKind::input, "{}: cannot be opened", path);
  return read_npy<Scalar>(in, path, vector);
}

void write_npy(std::ostream& out, const Eigen::Ref<const problems::MatrixF>& matrix) {
  write_matrix<float>(out, matrix);
}
void write_npy(std::ostream& out, const Eigen::Ref<const problems::MatrixD>& matrix) {
  write_matrix<double>(out, matrix);
}

void write_npy_file(const std::string& path, const Eigen::Ref<const problems::MatrixF>& matrix,
                    const Provenance& provenance) {
  write_file<float>(path, matrix, provenance);
}
void write_npy_file(const std::string& path, const Eigen::Ref<const problems::MatrixD>& matrix,
                    const Provenance& provenance) {
  write_file<double>(path, matrix, provenance);
}

template problems::MatrixF read_npy<float>(std::istream&, const std::string&, NpyVector);
template problems::MatrixD read_npy<double>(std::istream&, const std::string&, NpyVector);
template problems::MatrixF read_npy_file<float>(const std::string&, NpyVector);
template problems::MatrixD read_npy_file<double>(const std::string&, NpyVector);

}  // namespace subquad::io
