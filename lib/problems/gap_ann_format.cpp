#include "text_format.hpp"

#include <subquad/problems/gap_ann.hpp>

namespace subquad::problems {

GapAnn::Instance GapAnn::read_instance(std::istream& in, const std::string& name) {
  text::Reader reader(in, name);
  const std::vector<std::int64_t> header =
      text::read_header(reader, "gap-ann", {{"N"}, {"NK"}, {"DIM", 0, text::kLargestDim}, {"R_YES", -1}, {"R_NO", 0}});
  Instance instance;
  instance.r_yes = header[3];
  instance.r_no = header[4];
  if (instance.r_yes >= instance.r_no)
    reader.fail("R_YES = {} and R_NO = {}, expected R_YES < R_NO", instance.r_yes, instance.r_no);
  instance.queries = text::read_bits(reader, header[0], header[2], "queries");
  instance.keys = text::read_bits(reader, header[1], header[2], "keys");
  reader.expect_end("the last row of keys");
  return instance;
}

void GapAnn::write_instance(std::ostream& out, const Instance& instance, const Provenance& provenance) {
  validate(instance);
  write_comment_lines(out, provenance);
  out << fmt::format("p gap-ann {} {} {} {} {}\n", instance.queries.rows(), instance.keys.rows(), instance.keys.cols(),
                     instance.r_yes, instance.r_no);
  out << "c queries\n";
  text::write_bits(out, instance.queries);
  out << "c keys\n";
  text::write_bits(out, instance.keys);
}

AnswerFile<GapAnn::Answer> GapAnn::read_answer(std::istream& in, const std::string& name) {
  constexpr std::string_view kExpected = "'s ROWS N'";
  text::Reader reader(in, name);
  const text::AnswerHead head = text::read_answer_head(reader, kExpected);
  if (head.words.size() != 2 || head.words[0] != "ROWS")
    reader.fail("{}, expected {}", quoted(reader.line()), kExpected);
  const std::uint64_t rows = text::parse_index(reader, head.words[1], "the number of rows");
  AnswerFile<Answer> file{{}, head.instance};
  for (std::uint64_t r = 0; r < rows; ++r) {
    if (!reader.next()) reader.fail("the file ends after {} rows, expected {}", r, rows);
    const std::string_view line = reader.line();
    if (line != "near" && line != "far") reader.fail("{}, expected 'near' or 'far' for row {}", quoted(line), r);
    file.answer.near.push_back(line == "near");
  }
  reader.expect_end("the last row");
  return file;
}

void GapAnn::write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                          const Provenance& provenance) {
  text::write_answer_head(out, digest(instance), provenance);
  out << "s ROWS " << answer.near.size() << '\n';
  for (const bool near : answer.near) out << (near ? "near\n" : "far\n");
}

}  // namespace subquad::problems
