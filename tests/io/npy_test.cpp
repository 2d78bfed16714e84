// .npy files: golden bytes, round trips, every liberty that is read and every file that is refused.
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/io/npy.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

namespace {

using subquad::Error;
using subquad::ErrorKind;
using subquad::Random;
using subquad::io::NpyVector;
using subquad::io::read_npy;
using subquad::io::write_npy;
using subquad::problems::MatrixD;
using subquad::problems::MatrixF;

/// The 2 x 3 float32 matrix 1 ... 6, byte by byte: header length 0x76, so that the data start at 128.
std::string golden() {
  std::string bytes = "\x93NUMPY";
  bytes += std::string("\x01\x00\x76\x00", 4);
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  dictionary.resize(0x75, ' ');
  bytes += dictionary + "\n";
  bytes += std::string(
      "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40\x00\x00\xc0\x40", 24);
  return bytes;
}

MatrixF one_to_six() {
  MatrixF matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  return matrix;
}

/// A file with any dictionary and data. `length` defaults to the truth.
std::string file_with(const std::string& dictionary, const std::string& data, int major = 1, std::int64_t length = -1) {
  const std::string text = dictionary + "\n";
  const auto size = static_cast<std::uint64_t>(length < 0 ? static_cast<std::int64_t>(text.size()) : length);
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(major), '\0'};
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) bytes += static_cast<char>(size >> (8 * i) & 0xff);
  return bytes + text + data;
}

std::string dictionary(const std::string& type, const std::string& order, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

template <class Scalar = double>
auto read(const std::string& bytes, NpyVector vector = NpyVector::refuse) {
  std::istringstream in(bytes);
  return read_npy<Scalar>(in, "x.npy", vector);
}

/// A stream over a string that cannot seek, as a pipe.
class Pipe : public std::streambuf {
 public:
  explicit Pipe(std::string bytes) : bytes_(std::move(bytes)) {
    setg(bytes_.data(), bytes_.data(), bytes_.data() + bytes_.size());
  }

 private:
  std::string bytes_;
};

template <class Scalar = double>
auto read_as_pipe(const std::string& bytes) {
  Pipe pipe(bytes);
  std::istream in(&pipe);
  return read_npy<Scalar>(in, "x.npy");
}

/// The message of the Error(input) that reading must end with, by file and by pipe.
template <class Scalar = double>
std::string refusal(const std::string& bytes, NpyVector vector = NpyVector::refuse) {
  std::string message;
  try {
    read<Scalar>(bytes, vector);
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    message = e.what();
    EXPECT_EQ(message.rfind("x.npy: ", 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LE(message.size(), 200U) << message;
  }
  if (vector == NpyVector::refuse) {
    EXPECT_THROW(read_as_pipe<Scalar>(bytes), Error) << message;
  }
  return message;
}

void expect_refused(const std::string& bytes, const std::string& because) {
  const std::string message = refusal(bytes);
  EXPECT_NE(message.find(because), std::string::npos) << message;
}

TEST(Npy, WritesTheGoldenBytes) {
  std::ostringstream out;
  write_npy(out, one_to_six());
  EXPECT_EQ(out.str(), golden());
}

TEST(Npy, ReadsTheGoldenBytes) {
  EXPECT_EQ(read<float>(golden()), one_to_six());
  EXPECT_EQ(read<double>(golden()), one_to_six().cast<double>());
  EXPECT_EQ(read_as_pipe<float>(golden()), one_to_six());
}

TEST(Npy, WritesTheRowsOfAView) {
  MatrixD wide = MatrixD::Constant(4, 5, -1.0);
  wide.block(1, 2, 2, 3) = one_to_six().cast<double>();
  std::ostringstream out;
  write_npy(out, wide.block(1, 2, 2, 3));
  EXPECT_EQ(read(out.str()), one_to_six().cast<double>());
}

TEST(Npy, EveryMatrixSurvivesARoundTripBitByBit) {
  rc::check([] {
    const auto rows = *rc::gen::inRange<Eigen::Index>(0, 40), cols = *rc::gen::inRange<Eigen::Index>(0, 40);
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    MatrixD matrix(rows, cols);
    constexpr double kSpecial[] = {0.0,
                                   -0.0,
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN(),
                                   std::numeric_limits<double>::denorm_min()};
    for (Eigen::Index e = 0; e < matrix.size(); ++e) {
      matrix.data()[e] = random.below(4) == 0 ? kSpecial[random.below(6)] : random.normal();
    }
    const auto same_bits = [](const auto& x, const auto& y) {
      return x.rows() == y.rows() && x.cols() == y.cols() &&
             (x.size() == 0 ||
              std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.size()) * sizeof(*x.data())) == 0);
    };
    std::ostringstream wide, narrow;
    write_npy(wide, matrix);
    RC_ASSERT(wide.str().size() % 8 == 0);
    RC_ASSERT((wide.str().size() - static_cast<std::size_t>(matrix.size()) * 8) % 64 == 0);
    RC_ASSERT(same_bits(read(wide.str()), matrix));
    RC_ASSERT(same_bits(read_as_pipe(wide.str()), matrix));
    const MatrixF floats = matrix.cast<float>();
    write_npy(narrow, floats);
    RC_ASSERT(same_bits(read<float>(narrow.str()), floats));
  });
}

TEST(Npy, LargeDataArriveInSeveralPieces) {
  Random random(41);
  MatrixD matrix(700, 400);  // 2.2 MB, pieces of 1 MiB
  for (Eigen::Index e = 0; e < matrix.size(); ++e) matrix.data()[e] = random.unit();
  std::ostringstream out;
  write_npy(out, matrix);
  EXPECT_EQ(read(out.str()), matrix);
  EXPECT_EQ(read_as_pipe(out.str()), matrix);
}

TEST(Npy, FortranOrderIsHonoured) {
  const std::string data = bytes_of<double>({1, 4, 2, 5, 3, 6});
  EXPECT_EQ(read(file_with(dictionary("<f8", "True", "(2, 3)"), data)), one_to_six().cast<double>());
  EXPECT_EQ(read_as_pipe(file_with(dictionary("<f8", "True", "(2, 3)"), data)), one_to_six().cast<double>());
}

TEST(Npy, BigEndianIsConverted) {
  const std::string data("\x3f\x80\x00\x00\xc0\x00\x00\x00", 8);
  MatrixF expected(1, 2);
  expected << 1, -2;
  EXPECT_EQ(read<float>(file_with(dictionary(">f4", "False", "(1, 2)"), data)), expected);
  EXPECT_EQ(read(file_with(dictionary(">f8", "False", "(1, 1)"), std::string("\x3f\xf0\0\0\0\0\0\0", 8)))(0, 0), 1.0);
}

TEST(Npy, AllVersionsAndSpellingsOfTheHeaderAreRead) {
  const std::string data = bytes_of<float>({1, 2, 3, 4, 5, 6});
  for (const int major : {1, 2, 3}) {
    EXPECT_EQ(read<float>(file_with(dictionary("<f4", "False", "(2, 3)"), data, major)), one_to_six()) << major;
  }
  for (const char* text : {"{'shape':(2,3),'descr':'<f4','fortran_order':False}",
                           "{ \"descr\" : \"<f4\" , \"fortran_order\" : False , \"shape\" : ( 2 , 3 , ) , }   ",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L)}"}) {
    EXPECT_EQ(read<float>(file_with(text, data)), one_to_six()) << text;
  }
}

TEST(Npy, EmptyMatricesKeepTheirShape) {
  for (const auto& [shape, rows, cols] : {std::tuple{"(0, 4)", 0, 4}, {"(4, 0)", 4, 0}, {"(0, 0)", 0, 0}}) {
    const MatrixD matrix = read(file_with(dictionary("<f8", "False", shape), ""));
    EXPECT_EQ(matrix.rows(), rows);
    EXPECT_EQ(matrix.cols(), cols);
  }
}

TEST(Npy, AVectorIsAColumnOnlyWhereAskedFor) {
  const std::string file = file_with(dictionary("<f8", "False", "(3,)"), bytes_of<double>({7, 8, 9}));
  const MatrixD column = read(file, NpyVector::as_column);
  ASSERT_EQ(column.rows(), 3);
  ASSERT_EQ(column.cols(), 1);
  EXPECT_EQ(column(2, 0), 9.0);
  expect_refused(file, "shape (3,) is a vector");
}

TEST(NpyRefusals, NarrowingToFloat32) {
  EXPECT_NE(
      refusal<float>(file_with(dictionary("<f8", "False", "(1, 1)"), bytes_of<double>({1}))).find("would be rounded"),
      std::string::npos);
}

TEST(NpyRefusals, OtherElementTypes) {
  for (const char* type :
       {"|O", "|i1", "|b1", "<i4", "<u8", "<f2", "<f16", "<c8", "=f4", "f4", "<f", "", "<U5", "|V8"}) {
    expect_refused(file_with(dictionary(type, "False", "(1, 1)"), std::string(16, '\0')), "element type");
  }
  expect_refused(file_with("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1, 1), }", "abcd"), "records");
}

TEST(NpyRefusals, OtherShapes) {
  const std::string eight(8, '\0');
  expect_refused(file_with(dictionary("<f8", "False", "()"), eight), "0 dimensions");
  expect_refused(file_with(dictionary("<f8", "False", "(1, 1, 1)"), eight), "3 dimensions");
  expect_refused(file_with(dictionary("<f8", "False", "(1)"), eight), "shape is a number");
  expect_refused(file_with(dictionary("<f8", "False", "1, 1"), eight), "expected '('");
  expect_refused(file_with(dictionary("<f8", "False", "(-1, 1)"), eight), "non-negative integer");
  expect_refused(file_with(dictionary("<f8", "False", "(1.0, 1)"), eight), "expected ')'");
  expect_refused(file_with(dictionary("<f8", "False", "(1, 1"), eight), "expected");
  expect_refused(file_with(dictionary("<f8", "False", "(99999999999999999999, 1)"), eight), "63 bits");
}

TEST(NpyRefusals, SizesThatOverflowOrThatTheFileDoesNotHold) {
  expect_refused(file_with(dictionary("<f8", "False", "(4294967296, 4294967296)"), ""), "63 bits");
  expect_refused(file_with(dictionary("<f8", "False", "(9223372036854775807, 2)"), ""), "63 bits");
  // Fits 63 bits and no memory: refused by the file's size, before anything is allocated.
  expect_refused(file_with(dictionary("<f8", "False", "(1000000000, 1000000000)"), "12345678"), "truncated");
  expect_refused(file_with(dictionary("<f4", "True", "(1000000000, 1000000000)"), "12345678"), "truncated");
}

TEST(NpyRefusals, TruncationAnywhere) {
  const std::string whole = golden();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string message = refusal(whole.substr(0, size));
    EXPECT_TRUE(message.find("ends inside") != std::string::npos || message.find("truncated") != std::string::npos)
        << message;
  }
}

TEST(NpyRefusals, TrailingBytes) {
  expect_refused(golden() + "x", "bytes after the data");
  expect_refused(golden() + golden(), "bytes after the data");
  expect_refused(file_with(dictionary("<f8", "False", "(0, 4)"), "x"), "bytes after the data");
}

TEST(NpyRefusals, WrongMagicOrVersion) {
  for (std::size_t i = 0; i < 6; ++i) {
    std::string bytes = golden();
    bytes[i] = static_cast<char>(bytes[i] ^ 0x20);
    expect_refused(bytes, "magic string");
  }
  expect_refused("PK\x03\x04 a zip file, such as .npz", "magic string");
  for (const char major : {'\x00', '\x04', '\x7f'}) {
    std::string bytes = golden();
    bytes[6] = major;
    expect_refused(bytes, "format version");
  }
  std::string bytes = golden();
  bytes[7] = '\x01';
  expect_refused(bytes, "format version 1.1");
}

TEST(NpyRefusals, AHeaderLengthThatLies) {
  const std::string text = dictionary("<f8", "False", "(1, 1)");
  const std::string data(8, '\0');
  const auto truth = static_cast<std::int64_t>(text.size()) + 1;
  for (const std::int64_t length : {truth - 1, truth - 20, truth + 1, truth + 8, std::int64_t{0}}) {
    expect_refused(file_with(text, data, 1, length), "newline");
  }
  expect_refused(file_with(text, data, 1, 60000), "ends inside the header");
  expect_refused(file_with(text, data, 2, 0xffffffff), "claims 4294967295 bytes");
  expect_refused(file_with(text, data, 3, 65536), "claims 65536 bytes");
}

TEST(NpyRefusals, ADictionaryThatIsNone) {
  const std::string eight(8, '\0');
  const std::string rest = "'fortran_order': False, 'shape': (1, 1), }";
  expect_refused(file_with("", eight), "expected '{'");
  expect_refused(file_with("{}", eight), "no 'descr'");
  expect_refused(file_with("{'descr': '<f8', 'shape': (1, 1)}", eight), "no 'fortran_order'");
  expect_refused(file_with("{'descr': '<f8', 'fortran_order': False}", eight), "no 'shape'");
  expect_refused(file_with("{'descr': '<f8', 'descr': '<f8', " + rest, eight), "twice");
  expect_refused(file_with("{'descr': '<f8', 'extra': 1, " + rest, eight), "unknown key");
  expect_refused(file_with("{'descr': '<f8' " + rest, eight), "expected '}'");
  expect_refused(file_with("{'descr' '<f8', " + rest, eight), "expected ':'");
  expect_refused(file_with("{'descr': '<f8, 'fortran_order': False", eight), "expected");
  expect_refused(file_with("{'descr': '<f\\x38', " + rest, eight), "without escapes");
  expect_refused(file_with("{descr: '<f8', " + rest, eight), "in quotes");
  expect_refused(file_with("{'descr': '<f8', 'fortran_order': false, 'shape': (1, 1), }", eight), "True or False");
  expect_refused(file_with("{'descr': '<f8', 'fortran_order': 0, 'shape': (1, 1), }", eight), "True or False");
  expect_refused(file_with(dictionary("<f8", "False", "(1, 1)") + " junk", eight), "after the dictionary");
  expect_refused(file_with(std::string("{'descr': '\0<f8', ", 18) + rest, eight), "element type");
  expect_refused(file_with(std::string(3000, '{'), eight), "in quotes");
  expect_refused(file_with(std::string(3000, '('), eight), "expected '{'");
}

TEST(NpyRefusals, RandomDamageNeverCrashesAndNeverReadsAnotherShape) {
  // A flipped bit in the data gives another matrix; one in the header is refused or leaves six numbers.
  const std::string whole = golden();
  for (std::size_t byte = 0; byte < 128; ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << bit));
      try {
        EXPECT_EQ(read(bytes, NpyVector::as_column).size(), 6) << byte << " " << bit;
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::input) << e.what();
      }
    }
  }
}

/// A folder of its own, removed at the end.
class NpyFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) / (std::string("subquad_") + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

TEST_F(NpyFiles, ProvenanceStandsInASidecar) {
  const subquad::Provenance provenance{"subquad test", 7, "", ""};
  subquad::io::write_npy_file(path("a.npy"), one_to_six(), provenance);
  EXPECT_EQ(subquad::io::read_npy_file<float>(path("a.npy")), one_to_six());
  std::ifstream in(path("a.npy.provenance"));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("command: subquad test\n"), std::string::npos) << text;
  EXPECT_NE(text.find("seed: 7\n"), std::string::npos) << text;
}

TEST_F(NpyFiles, MissingFilesAndFoldersAreInputErrors) {
  for (const std::string& name : {path("none.npy"), path("")}) {
    try {
      subquad::io::read_npy_file<float>(name);
      ADD_FAILURE() << "accepted " << name;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::input) << e.what();
    }
  }
  EXPECT_THROW(subquad::io::write_npy_file(path("no/such/folder.npy"), one_to_six(), {}), Error);
}

TEST_F(NpyFiles, NumPyReadsOursAndWeReadNumPys) {
  if (std::system("python3 -c 'import numpy' > /dev/null 2>&1") != 0) GTEST_SKIP() << "python3 cannot import numpy";
  subquad::io::write_npy_file(path("ours.npy"), one_to_six(), {});
  const std::string script =
      "import numpy as np, sys\n"
      "f = sys.argv[1] + '/'\n"
      "x = np.load(f + 'ours.npy')\n"
      "assert x.dtype == np.float32 and x.tolist() == [[1, 2, 3], [4, 5, 6]], x\n"
      "np.save(f + 'c.npy', x.astype('<f8'))\n"
      "np.save(f + 'fortran.npy', np.asfortranarray(x))\n"
      "np.save(f + 'big.npy', x.astype('>f4'))\n"
      "np.save(f + 'again.npy', x)\n";
  std::ofstream(path("script.py")) << script;
  ASSERT_EQ(std::system(("python3 " + path("script.py") + " " + path("")).c_str()), 0);
  EXPECT_EQ(subquad::io::read_npy_file<double>(path("c.npy")), one_to_six().cast<double>());
  EXPECT_EQ(subquad::io::read_npy_file<float>(path("fortran.npy")), one_to_six());
  EXPECT_EQ(subquad::io::read_npy_file<float>(path("big.npy")), one_to_six());
  std::ifstream again(path("again.npy"), std::ios::binary);
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(again)), {}), golden());
}

}  // namespace
