#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/core/record_reader.hpp>
#include <subquad/verifiers/anna_format.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace subquad::verifiers {
namespace {

constexpr std::string_view kUsage = "p anna-weights QUERIES KEYS R C TABLES zero|strict LINES";
constexpr std::int64_t kMostRows = std::int64_t{1} << 32;

std::uint64_t parse_whole(const RecordReader& reader, std::string_view word, const char* what, std::int64_t least,
                          std::int64_t most) {
  const std::optional<std::int64_t> value = parse_int(word);
  if (!value || *value < least || *value > most) {
    reader.fail("{} {}, expected a whole number from {} to {}", what, quoted(word), least, most);
  }
  return static_cast<std::uint64_t>(*value);
}

double parse_number(const RecordReader& reader, std::string_view word, const char* what, double least) {
  const std::optional<double> value = parse_real(word);
  if (!value || !std::isfinite(*value) || *value < least) {
    reader.fail("{} {}, expected a finite number >= {}", what, quoted(word), least);
  }
  return *value;
}

}  // namespace

AnnaWeights read_anna_weights(std::istream& in, const std::string& name) {
  RecordReader reader(in, name);
  const auto header = read_record_header(reader, "anna-weights", kUsage);
  if (header.size() != 9) reader.fail("header with {} words, expected '{}'", header.size(), kUsage);
  AnnaWeights weights;
  const std::uint64_t queries = parse_whole(reader, header[2], "queries", 0, kMostRows);
  weights.num_keys = parse_whole(reader, header[3], "keys", 0, kMostRows);
  weights.claim.radius = parse_number(reader, header[4], "radius r", 0);
  weights.claim.ratio = parse_number(reader, header[5], "ratio c", 1);
  weights.claim.tables = parse_whole(reader, header[6], "tables", 1, kMostRows);
  if (header[7] != "zero" && header[7] != "strict") {
    reader.fail("convention {}, expected zero or strict", quoted(header[7]));
  }
  weights.claim.strict = header[7] == "strict";
  const std::uint64_t lines = parse_whole(reader, header[8], "lines", 0, std::int64_t{1} << 62);
  for (std::uint64_t line = 0; line < lines; ++line) {
    reader.need("'QUERY KEY COUNT'");
    const auto words = reader.words();
    if (words.size() != 3) reader.fail("{}, expected 'QUERY KEY COUNT'", quoted(reader.line()));
    if (queries == 0 || weights.num_keys == 0) reader.fail("a count, expected none: there are no pairs");
    const std::uint64_t row = parse_whole(reader, words[0], "query", 0, static_cast<std::int64_t>(queries) - 1);
    const std::uint64_t key = parse_whole(reader, words[1], "key", 0, static_cast<std::int64_t>(weights.num_keys) - 1);
    const std::uint64_t count = parse_whole(reader, words[2], "count", 1, std::int64_t{1} << 62);
    if (row + 1 < weights.rows.size() ||
        (row + 1 == weights.rows.size() && !weights.rows.back().empty() && weights.rows.back().back().first >= key)) {
      reader.fail("{}, expected pairs in ascending order", quoted(reader.line()));
    }
    weights.rows.resize(row + 1);
    weights.rows[row].emplace_back(key, count);
  }
  reader.expect_end(fmt::format("{} counts", lines));
  weights.rows.resize(queries);
  return weights;
}

void write_anna_weights(std::ostream& out, const AnnaWeights& weights, const Provenance& provenance) {
  write_comment_lines(out, provenance);
  std::uint64_t lines = 0;
  for (const AnnaRow& row : weights.rows) lines += row.size();
  out << fmt::format("p anna-weights {} {} {} {} {} {} {}\n", weights.rows.size(), weights.num_keys,
                     weights.claim.radius, weights.claim.ratio, weights.claim.tables,
                     weights.claim.strict ? "strict" : "zero", lines);
  for (std::size_t i = 0; i < weights.rows.size(); ++i) {
    for (const auto& [key, count] : weights.rows[i]) out << i << ' ' << key << ' ' << count << '\n';
  }
}

}  // namespace subquad::verifiers
