// NumPy .npy files (format versions 1.0, 2.0, 3.0): matrices of float32 and float64.
//
// The format has no place for comments, so provenance stands in a sidecar, PATH.provenance, one line of text a fact.
#pragma once

#include <subquad/core/provenance.hpp>
#include <subquad/problems/attention.hpp>

#include <Eigen/Core>
#include <iosfwd>
#include <string>

namespace subquad::io {

/// What to do with a file whose shape has one dimension, (n,).
enum class NpyVector {
  refuse,    ///< an error: whether it is a row or a column is the writer's secret
  as_column  ///< an n x 1 matrix
};

/// Reads a matrix. Scalar is float or double.
///
/// Accepts   '<f4', '<f8', and '>f4', '>f8' (bytes are swapped); float32 files as double, which is exact; Fortran order
///           (transposed while reading); 0 rows or columns; keys of the header in any order
/// Refuses   a float64 file as float (it would be rounded), other types (objects, records, integers ...), no dimension
///           or more than 2, a wrong magic string or version, a header that is longer than 65535 bytes, does not end in
///           a newline or is not the dictionary that the format prescribes, shapes whose size overflows, truncated
///           data, bytes after the data. Entries may be NaN or infinite: see problems::validate
/// Memory    the matrix; nothing is allocated for data that the stream does not hold
/// Errors    Error(input) "name: what, expected what"
template <class Scalar>
problems::RowMajorMatrix<Scalar> read_npy(std::istream& in, const std::string& name,
                                          NpyVector vector = NpyVector::refuse);

/// The same from a file. Also throws Error(input) if it cannot be opened.
template <class Scalar>
problems::RowMajorMatrix<Scalar> read_npy_file(const std::string& path, NpyVector vector = NpyVector::refuse);

/// Writes version 1.0, '<f4' or '<f8', C order, the data at a multiple of 64 bytes: what numpy.save writes.
///
/// Errors    none of its own; the caller checks the stream (OutputFile::commit does)
void write_npy(std::ostream& out, const Eigen::Ref<const problems::MatrixF>& matrix);
void write_npy(std::ostream& out, const Eigen::Ref<const problems::MatrixD>& matrix);

/// Writes PATH and its sidecar PATH.provenance, each whole or not at all; "-" writes the matrix to standard output and
/// no sidecar. Throws Error(input) or Error(resource) as OutputFile does.
void write_npy_file(const std::string& path, const Eigen::Ref<const problems::MatrixF>& matrix,
                    const Provenance& provenance);
void write_npy_file(const std::string& path, const Eigen::Ref<const problems::MatrixD>& matrix,
                    const Provenance& provenance);

extern template problems::MatrixF read_npy<float>(std::istream&, const std::string&, NpyVector);
extern template problems::MatrixD read_npy<double>(std::istream&, const std::string&, NpyVector);
extern template problems::MatrixF read_npy_file<float>(const std::string&, NpyVector);
extern template problems::MatrixD read_npy_file<double>(const std::string&, NpyVector);

}  // namespace subquad::io
