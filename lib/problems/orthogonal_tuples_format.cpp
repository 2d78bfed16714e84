#include "text_format.hpp"

#include <subquad/problems/orthogonal_tuples.hpp>

namespace subquad::problems {

OrthogonalTuples::Instance OrthogonalTuples::read_instance(std::istream& in, const std::string& name) {
  constexpr std::string_view kUsage = "p p-ov P DIM N1 .. NP";
  text::Reader reader(in, name);
  const std::vector<std::string_view> words = read_record_header(reader, "p-ov", kUsage);
  if (words.size() < 4) reader.fail("header with {} numbers, expected '{}'", words.size() - 2, kUsage);
  const std::int64_t parts = text::parse_field(reader, words[2], {"P", 1});
  const std::int64_t dim = text::parse_field(reader, words[3], {"DIM", 0, text::kLargestDim});
  // The words were really read, so their number bounds the memory; P alone is only a promise.
  if (words.size() - 4 != static_cast<std::uint64_t>(parts))
    reader.fail("header with {} part sizes, expected P = {}: '{}'", words.size() - 4, parts, kUsage);
  std::vector<std::int64_t> sizes;
  for (std::size_t q = 4; q < words.size(); ++q)
    sizes.push_back(text::parse_field(reader, words[q], {fmt::format("N{}", q - 3)}));
  Instance instance;
  for (std::size_t q = 0; q < sizes.size(); ++q)
    instance.parts.push_back(text::read_bits(reader, sizes[q], dim, fmt::format("part {}", q + 1)));
  reader.expect_end("the last part");
  return instance;
}

void OrthogonalTuples::write_instance(std::ostream& out, const Instance& instance, const Provenance& provenance) {
  validate(instance);
  write_comment_lines(out, provenance);
  out << fmt::format("p p-ov {} {}", instance.parts.size(), instance.parts.front().cols());
  for (const BitMatrix& part : instance.parts) out << ' ' << part.rows();
  out << '\n';
  for (std::size_t q = 0; q < instance.parts.size(); ++q) {
    out << "c part " << q + 1 << '\n';
    text::write_bits(out, instance.parts[q]);
  }
}

AnswerFile<OrthogonalTuples::Answer> OrthogonalTuples::read_answer(std::istream& in, const std::string& name) {
  constexpr std::string_view kExpected = "'s YES' or 's NO'";
  text::Reader reader(in, name);
  const text::AnswerHead head = text::read_answer_head(reader, kExpected);
  AnswerFile<Answer> file{{}, head.instance};
  if (head.words == std::vector<std::string>{"YES"}) {
    constexpr std::string_view kWitness = "the witness 'w I1 .. IP'";
    reader.need(kWitness);
    const std::vector<std::string_view> words = reader.words();
    if (words.size() < 2 || words[0] != "w") reader.fail("{}, expected {}", quoted(reader.line()), kWitness);
    file.answer.witness.emplace();
    for (std::size_t q = 1; q < words.size(); ++q)
      file.answer.witness->push_back(text::parse_index(reader, words[q], "the index of a row"));
  } else if (head.words != std::vector<std::string>{"NO"}) {
    reader.fail("{}, expected {}", quoted(reader.line()), kExpected);
  }
  reader.expect_end("the answer");
  return file;
}

void OrthogonalTuples::write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                                    const Provenance& provenance) {
  text::write_answer_head(out, digest(instance), provenance);
  if (!answer.witness) {
    out << "s NO\n";
    return;
  }
  out << "s YES\nw";
  for (const std::uint64_t index : *answer.witness) out << ' ' << index;
  out << '\n';
}

}  // namespace subquad::problems
