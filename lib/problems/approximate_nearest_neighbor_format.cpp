#include "text_format.hpp"

#include <subquad/problems/approximate_nearest_neighbor.hpp>

namespace subquad::problems {

ApproximateNearestNeighbor::Instance ApproximateNearestNeighbor::read_instance(std::istream& in,
                                                                               const std::string& name) {
  text::Reader reader(in, name);
  const std::vector<std::int64_t> header =
      text::read_header(reader, "ann", {{"N"}, {"NK"}, {"DIM", 0, text::kLargestDim}, {"EPS_NUM", 0}, {"EPS_DEN", 1}});
  if (header[0] > 0 && header[1] == 0) reader.fail("N = {} queries and no key, expected NK at least 1", header[0]);
  Instance instance;
  instance.eps_num = static_cast<std::uint64_t>(header[3]);
  instance.eps_den = static_cast<std::uint64_t>(header[4]);
  instance.queries = text::read_bits(reader, header[0], header[2], "queries");
  instance.keys = text::read_bits(reader, header[1], header[2], "keys");
  reader.expect_end("the last row of keys");
  return instance;
}

void ApproximateNearestNeighbor::write_instance(std::ostream& out, const Instance& instance,
                                                const Provenance& provenance) {
  validate(instance);
  write_comment_lines(out, provenance);
  out << fmt::format("p ann {} {} {} {} {}\n", instance.queries.rows(), instance.keys.rows(), instance.keys.cols(),
                     instance.eps_num, instance.eps_den);
  out << "c queries\n";
  text::write_bits(out, instance.queries);
  out << "c keys\n";
  text::write_bits(out, instance.keys);
}

AnswerFile<ApproximateNearestNeighbor::Answer> ApproximateNearestNeighbor::read_answer(std::istream& in,
                                                                                       const std::string& name) {
  constexpr std::string_view kExpected = "'s ROWS N'";
  text::Reader reader(in, name);
  const text::AnswerHead head = text::read_answer_head(reader, kExpected);
  if (head.words.size() != 2 || head.words[0] != "ROWS")
    reader.fail("{}, expected {}", quoted(reader.line()), kExpected);
  const std::uint64_t rows = text::parse_index(reader, head.words[1], "the number of rows");
  AnswerFile<Answer> file{{}, head.instance};
  for (std::uint64_t r = 0; r < rows; ++r) {
    if (!reader.next()) reader.fail("the file ends after {} rows, expected {}", r, rows);
    const std::vector<std::string_view> words = reader.words();
    if (words.size() != 2) reader.fail("{}, expected 'VALUE KEY' for row {}", quoted(reader.line()), r);
    file.answer.rows.push_back(
        {text::parse_index(reader, words[0], "a value"), text::parse_index(reader, words[1], "the index of a key")});
  }
  reader.expect_end("the last row");
  return file;
}

void ApproximateNearestNeighbor::write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                                              const Provenance& provenance) {
  text::write_answer_head(out, digest(instance), provenance);
  out << "s ROWS " << answer.rows.size() << '\n';
  for (const Answer::Row& row : answer.rows) out << row.value << ' ' << row.key << '\n';
}

}  // namespace subquad::problems
