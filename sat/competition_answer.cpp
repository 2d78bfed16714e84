// Answers in the SAT competition's output format: one `s` line and, if satisfiable, `v` lines that end with 0.
#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/sat/cnf.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ios>
#include <ostream>

namespace subquad::sat {

namespace {

/// Parses 32 hexadecimal digits. Empty if the word is not exactly that.
std::optional<Digest> parse_digest(std::string_view word) {
  constexpr std::size_t kHalf = 16;
  if (word.size() != 2 * kHalf) return std::nullopt;
  Digest digest;
  for (auto [half, target] :
       {std::pair{word.substr(0, kHalf), &digest.high}, std::pair{word.substr(kHalf), &digest.low}}) {
    const auto [end, error] = std::from_chars(half.data(), half.data() + kHalf, *target, 16);
    if (error != std::errc() || end != half.data() + kHalf) return std::nullopt;
  }
  return digest;
}

class AnswerReader {
 public:
  AnswerReader(std::istream& in, const std::string& name) : lines_(in, name) {}

  AnswerFile<CnfSat::Answer> read() {
    while (lines_.next()) read_line(split_words(lines_.line()));
    if (!status_) lines_.fail("no status, expected a line 's SATISFIABLE' or 's UNSATISFIABLE'");
    AnswerFile<CnfSat::Answer> result;
    result.instance = instance_;
    if (*status_) {
      if (!values_ended_)
        lines_.fail("{}, expected 'v' lines with a value for each variable and a final 0",
                    saw_values_ ? "the values have no final 0" : "satisfiable, but no 'v' line");
      result.answer.model = make_model();
    } else if (saw_values_) {
      lines_.fail("unsatisfiable, but there are 'v' lines");
    }
    return result;
  }

 private:
  struct Value {
    Literal literal;
    std::uint64_t line = 0;
  };

  void read_line(const std::vector<std::string_view>& words) {
    if (words.empty()) return;
    const std::string_view kind = words.front();
    if (kind == "s") {
      read_status(words);
    } else if (kind == "v") {
      read_values(words);
    } else if (kind.front() == 'c') {
      read_comment(words);
    } else if (kind == "SAT" || kind == "UNSAT" || kind == "INDET") {
      lines_.fail(
          "{}: this looks like minisat's result file, expected SAT-competition output ('s SATISFIABLE', 'v 1 -2 0')",
          quoted(kind));
    } else if (kind == "p") {
      lines_.fail("a header 'p': this looks like a formula, expected a solver's answer ('s' and 'v' lines)");
    } else {
      lines_.fail("{}, expected a line starting with 's', 'v' or 'c'", quoted(kind));
    }
  }

  void read_status(const std::vector<std::string_view>& words) {
    if (status_) lines_.fail("a second 's' line, expected one");
    if (words.size() == 2 && words[1] == "SATISFIABLE") {
      status_ = true;
    } else if (words.size() == 2 && words[1] == "UNSATISFIABLE") {
      status_ = false;
    } else if (words.size() == 2 && (words[1] == "UNKNOWN" || words[1] == "INDETERMINATE")) {
      lines_.fail("status {}: the solver did not decide the formula, so there is no answer to read", words[1]);
    } else {
      lines_.fail("status {}, expected 's SATISFIABLE' or 's UNSATISFIABLE'", quoted(lines_.line()));
    }
  }

  void read_values(const std::vector<std::string_view>& words) {
    saw_values_ = true;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (values_ended_) lines_.fail("{} behind the final 0 of the values", quoted(words[i]));
      const std::optional<std::int64_t> value = parse_int(words[i]);
      constexpr auto kLargest = static_cast<std::int64_t>(kMaxVariables);
      if (!value || *value > kLargest || *value < -kLargest || (*value == 0 && words[i] != "0"))
        lines_.fail("{} is not a literal, expected a non-zero integer up to {} in absolute value", quoted(words[i]),
                    kMaxVariables);
      if (*value == 0)
        values_ended_ = true;
      else
        values_.push_back({Literal::from_dimacs(*value), lines_.line_number()});
    }
  }

  /// Takes the digest of a line `c instance DIGEST`; other comments are nobody's business.
  void read_comment(const std::vector<std::string_view>& words) {
    if (words.size() != 3 || words[0] != "c" || words[1] != "instance") return;
    if (words[2].find_first_not_of("0123456789abcdef") != std::string_view::npos) return;
    const std::optional<Digest> digest = parse_digest(words[2]);
    if (!digest) lines_.fail("instance digest {}, expected 32 hexadecimal digits", quoted(words[2]));
    if (instance_ && *instance_ != *digest) lines_.fail("a second instance digest that differs from the first");
    instance_ = digest;
  }

  /// Each variable must have exactly one value. Sorting keeps the memory proportional to the file, whatever it names.
  Model make_model() {
    std::stable_sort(values_.begin(), values_.end(),
                     [](const Value& a, const Value& b) { return a.literal.variable() < b.literal.variable(); });
    Model model;
    model.reserve(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Value& value = values_[i];
      const std::uint64_t variable = value.literal.variable();
      if (i > 0 && values_[i - 1].literal.variable() == variable) {
        lines_.fail_at(value.line,
                       fmt::format("variable {} has {}", variable + 1,
                                   values_[i - 1].literal == value.literal ? "two values (the same twice)"
                                                                           : "both values, a contradiction"));
      }
      if (variable != model.size()) {
        lines_.fail_at(value.line, fmt::format("variable {} has no value, but variable {} has one, expected all",
                                               model.size() + 1, variable + 1));
      }
      model.push_back(!value.literal.negative());
    }
    return model;
  }

  LineReader lines_;
  std::optional<bool> status_;
  std::optional<Digest> instance_;
  std::vector<Value> values_;
  bool saw_values_ = false;
  bool values_ended_ = false;
};

}  // namespace

AnswerFile<CnfSat::Answer> CnfSat::read_answer(std::istream& in, const std::string& name) {
  try {
    return AnswerReader(in, name).read();
  } catch (const std::ios_base::failure& failure) {  // a directory, for example
    fail(ErrorKind::input, "{}: read error ({}), expected a text file", name == "-" ? "standard input" : name,
         failure.what());
  }
}

void CnfSat::write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                          const Provenance& provenance) {
  require(!answer.model || answer.model->size() == instance.num_variables(), ErrorKind::parameter,
          "the model has {} values, the formula has {} variables", answer.model ? answer.model->size() : 0,
          instance.num_variables());
  for (const std::string& line : provenance.lines()) out << "c " << line << '\n';
  out << "c instance " << to_string(digest(instance)) << '\n';
  out << (answer.model ? "s SATISFIABLE\n" : "s UNSATISFIABLE\n");
  if (!answer.model) return;
  constexpr std::size_t kColumns = 78;  // the competition's rules ask for short lines
  std::string line = "v";
  for (std::uint64_t v = 0; v <= answer.model->size(); ++v) {
    const bool end = v == answer.model->size();
    const std::string word = end ? " 0" : fmt::format(" {}{}", (*answer.model)[v] ? "" : "-", v + 1);
    if (line.size() + word.size() > kColumns) {
      out << line << '\n';
      line.resize(1);  // the "v"
    }
    line += word;
  }
  out << line << '\n';
}

}  // namespace subquad::sat
