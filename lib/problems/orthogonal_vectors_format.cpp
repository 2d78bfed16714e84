#include "text_format.hpp"

#include <subquad/problems/orthogonal_vectors.hpp>

namespace subquad::problems {

OrthogonalVectors::Instance OrthogonalVectors::read_instance(std::istream& in, const std::string& name) {
  text::Reader reader(in, name);
  const std::vector<std::int64_t> header =
      text::read_header(reader, "ov", {{"NUM_A"}, {"NUM_B"}, {"DIM", 0, text::kLargestDim}});
  Instance instance;
  instance.a = text::read_bits(reader, header[0], header[2], "A");
  instance.b = text::read_bits(reader, header[1], header[2], "B");
  reader.expect_end("the last row of B");
  return instance;
}

void OrthogonalVectors::write_instance(std::ostream& out, const Instance& instance, const Provenance& provenance) {
  validate(instance);
  write_comment_lines(out, provenance);
  out << fmt::format("p ov {} {} {}\n", instance.a.rows(), instance.b.rows(), instance.a.cols());
  out << "c A\n";
  text::write_bits(out, instance.a);
  out << "c B\n";
  text::write_bits(out, instance.b);
}

AnswerFile<OrthogonalVectors::Answer> OrthogonalVectors::read_answer(std::istream& in, const std::string& name) {
  constexpr std::string_view kExpected = "'s YES' or 's NO'";
  text::Reader reader(in, name);
  const text::AnswerHead head = text::read_answer_head(reader, kExpected);
  AnswerFile<Answer> file{{}, head.instance};
  if (head.words == std::vector<std::string>{"YES"}) {
    constexpr std::string_view kWitness = "the witness 'w I J'";
    reader.need(kWitness);
    const std::vector<std::string_view> words = reader.words();
    if (words.size() != 3 || words[0] != "w") reader.fail("{}, expected {}", quoted(reader.line()), kWitness);
    file.answer.witness = {text::parse_index(reader, words[1], "the index of a row of A"),
                           text::parse_index(reader, words[2], "the index of a row of B")};
  } else if (head.words != std::vector<std::string>{"NO"}) {
    reader.fail("{}, expected {}", quoted(reader.line()), kExpected);
  }
  reader.expect_end("the answer");
  return file;
}

void OrthogonalVectors::write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                                     const Provenance& provenance) {
  text::write_answer_head(out, digest(instance), provenance);
  if (answer.witness)
    out << fmt::format("s YES\nw {} {}\n", answer.witness->first, answer.witness->second);
  else
    out << "s NO\n";
}

}  // namespace subquad::problems
