#include "text_format.hpp"

#include <subquad/problems/attention.hpp>

#include <cmath>

namespace subquad::problems {

namespace {

constexpr std::int64_t kLargestWidth = text::kLargestDim / 2;  // a row is one line, at least two bytes a number

/// Reads the line `KEY REAL`.
double read_parameter(text::Reader& reader, std::string_view key) {
  const std::string expected = fmt::format("'{} REAL'", key);
  reader.need(expected);
  text::refuse_header(reader, expected);
  const std::vector<std::string_view> words = reader.words();
  if (words.size() != 2 || words[0] != key) reader.fail("{}, expected {}", quoted(reader.line()), expected);
  const std::optional<double> value = parse_real(words[1]);
  if (!value) reader.fail("{} is {}, expected a finite real", key, quoted(words[1]));
  return *value;
}

MatrixD to_matrix(const std::vector<double>& values, std::int64_t rows, std::int64_t cols) {
  return Eigen::Map<const MatrixD>(values.data(), rows, cols);
}

MatrixD read_matrix(text::Reader& reader, std::int64_t rows, std::int64_t cols, std::string_view what,
                    std::optional<double> bound) {
  return to_matrix(text::read_reals(reader, rows, cols, what, bound), rows, cols);
}

void write_matrix(std::ostream& out, const MatrixD& matrix) {
  for (Eigen::Index r = 0; r < matrix.rows(); ++r)
    text::write_reals(out, {matrix.data() + r * matrix.cols(), static_cast<std::size_t>(matrix.cols())});
}

/// An end of an enclosure of a logarithm: a real, or -inf for ln 0.
double parse_log(const text::Reader& reader, std::string_view word) {
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  const std::optional<double> value = parse_real(word);
  if (!value) reader.fail("{}, expected a finite real or -inf", quoted(word));
  return *value;
}

}  // namespace

Attention::Instance Attention::read_instance(std::istream& in, const std::string& name) {
  text::Reader reader(in, name);
  const std::vector<std::int64_t> header =
      text::read_header(reader, "attention", {{"N"}, {"NK"}, {"D", 0, kLargestWidth}, {"DV", 0, kLargestWidth}});
  if (header[0] > 0 && header[1] == 0) reader.fail("N = {} queries and no key, expected NK at least 1", header[0]);
  Instance instance;
  instance.scale = read_parameter(reader, "scale");
  instance.entry_bound = read_parameter(reader, "entry-bound");
  if (!(instance.entry_bound >= 0)) reader.fail("entry-bound is {}, expected at least 0", instance.entry_bound);
  instance.log_tolerance = read_parameter(reader, "ln-tolerance");
  instance.q = read_matrix(reader, header[0], header[2], "Q", instance.entry_bound);
  instance.k = read_matrix(reader, header[1], header[2], "K", instance.entry_bound);
  instance.v = read_matrix(reader, header[1], header[3], "V", instance.entry_bound);
  reader.expect_end("the last row of V");
  return instance;
}

void Attention::write_instance(std::ostream& out, const Instance& instance, const Provenance& provenance) {
  validate(instance);
  write_comment_lines(out, provenance);
  out << fmt::format("p attention {} {} {} {}\n", instance.q.rows(), instance.k.rows(), instance.q.cols(),
                     instance.v.cols());
  out << fmt::format("scale {}\nentry-bound {}\nln-tolerance {}\n", instance.scale, instance.entry_bound,
                     instance.log_tolerance);
  out << "c Q\n";
  write_matrix(out, instance.q);
  out << "c K\n";
  write_matrix(out, instance.k);
  out << "c V\n";
  write_matrix(out, instance.v);
}

AnswerFile<Attention::Answer> Attention::read_answer(std::istream& in, const std::string& name) {
  constexpr std::string_view kExpected = "'s OUTPUT N DV' or 's OUTPUT N DV LOG'";
  text::Reader reader(in, name);
  const text::AnswerHead head = text::read_answer_head(reader, kExpected);
  const bool with_log = head.words.size() == 4 && head.words[3] == "LOG";
  if ((head.words.size() != 3 && !with_log) || head.words[0] != "OUTPUT")
    reader.fail("{}, expected {}", quoted(reader.line()), kExpected);
  const std::int64_t rows = text::parse_field(reader, head.words[1], {"N"});
  const std::int64_t cols = text::parse_field(reader, head.words[2], {"DV", 0, kLargestWidth});
  if (with_log && (rows == 0 || cols == 0))
    reader.fail("LOG with N = {} and DV = {}, expected both at least 1", rows, cols);
  AnswerFile<Answer> file{{}, head.instance};
  file.answer.output = read_matrix(reader, rows, cols, "output", std::nullopt);
  for (std::int64_t r = 0; with_log && r < rows; ++r) {
    constexpr std::string_view kLine = "'l LOW HIGH' with LOW <= HIGH";
    if (!reader.next()) reader.fail("the file ends after {} lines of logarithms, expected {}", r, rows);
    const std::vector<std::string_view> words = reader.words();
    if (words.size() != 3 || words[0] != "l")
      reader.fail("{}, expected {} for row {}", quoted(reader.line()), kLine, r);
    const LogEnclosure log{parse_log(reader, words[1]), parse_log(reader, words[2])};
    if (!(log.log_low <= log.log_high)) reader.fail("{}, expected {} for row {}", quoted(reader.line()), kLine, r);
    file.answer.log_column.push_back(log);
  }
  reader.expect_end("the last row");
  return file;
}

void Attention::write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                             const Provenance& provenance) {
  const MatrixD& output = answer.output;
  require(output.allFinite(), ErrorKind::parameter,
          "attention output has an entry that is not finite, which no answer file can hold");
  require(answer.log_column.empty() || answer.log_column.size() == static_cast<std::uint64_t>(output.rows()),
          ErrorKind::parameter, "{} enclosures of logarithms for {} rows of output, expected one a row",
          answer.log_column.size(), output.rows());
  text::write_answer_head(out, digest(instance), provenance);
  out << fmt::format("s OUTPUT {} {}{}\n", output.rows(), output.cols(), answer.log_column.empty() ? "" : " LOG");
  write_matrix(out, output);
  for (const LogEnclosure& log : answer.log_column) {
    require(log.log_low <= log.log_high && log.log_high < std::numeric_limits<double>::infinity(), ErrorKind::parameter,
            "enclosure [{}, {}] of a logarithm, expected low <= high < inf", log.log_low, log.log_high);
    out << fmt::format("l {} {}\n", log.log_low, log.log_high);
  }
}

}  // namespace subquad::problems
