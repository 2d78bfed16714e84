#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/core/record_reader.hpp>
#include <subquad/verifiers/anna_format.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace subquad::verifiers {
namespace {

constexpr std::string_view kUsage = "p anna-weights QUERIES KEYS METRIC R C TABLES zero|strict LINES";
constexpr std::int64_t kMost = std::int64_t{1} << 62;

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

AnnaMetric parse_metric(const RecordReader& reader, std::string_view word) {
  for (const AnnaMetric metric : {AnnaMetric::euclidean, AnnaMetric::angular, AnnaMetric::hamming}) {
    if (word == to_string(metric)) return metric;
  }
  reader.fail("metric {}, expected euclidean, angular or hamming", quoted(word));
}

bool before(const AnnaEntry& a, const AnnaEntry& b) {
  return a.query < b.query || (a.query == b.query && a.key < b.key);
}

}  // namespace

std::vector<AnnaRow> AnnaWeights::rows() const {
  std::vector<AnnaRow> result(num_queries);
  for (const AnnaEntry& entry : entries) result[entry.query].emplace_back(entry.key, entry.count);
  return result;
}

AnnaWeights make_anna_weights(std::uint64_t num_keys, const AnnaClaim& claim, const std::vector<AnnaRow>& rows) {
  AnnaWeights weights{rows.size(), num_keys, claim, {}};
  for (std::uint64_t i = 0; i < rows.size(); ++i) {
    for (const auto& [key, count] : rows[i]) {
      const AnnaEntry entry{i, key, count};
      require(key < num_keys && (weights.entries.empty() || before(weights.entries.back(), entry)),
              ErrorKind::parameter, "anna weights: row {} has key {}, expected ascending keys below {}", i, key,
              num_keys);
      weights.entries.push_back(entry);
    }
  }
  return weights;
}

AnnaWeights read_anna_weights(std::istream& in, const std::string& name) {
  RecordReader reader(in, name);
  const auto header = read_record_header(reader, "anna-weights", kUsage);
  if (header.size() != 10) reader.fail("header with {} words, expected '{}'", header.size(), kUsage);
  AnnaWeights weights;
  weights.num_queries = parse_whole(reader, header[2], "queries", 0, kMost);
  weights.num_keys = parse_whole(reader, header[3], "keys", 0, kMost);
  weights.claim.metric = parse_metric(reader, header[4]);
  weights.claim.radius = parse_number(reader, header[5], "radius r", 0);
  weights.claim.ratio = parse_number(reader, header[6], "ratio c", 1);
  weights.claim.tables = parse_whole(reader, header[7], "tables", 1, kMost);
  if (header[8] != "zero" && header[8] != "strict") {
    reader.fail("convention {}, expected zero or strict", quoted(header[8]));
  }
  weights.claim.strict = header[8] == "strict";
  const std::uint64_t lines = parse_whole(reader, header[9], "lines", 0, kMost);
  if (lines > 0 && (weights.num_queries == 0 || weights.num_keys == 0)) {
    reader.fail("{} lines, expected 0: there are no pairs", lines);
  }
  for (std::uint64_t line = 0; line < lines; ++line) {
    reader.need(fmt::format("'QUERY KEY COUNT', line {} of {}", line + 1, lines));
    const auto words = reader.words();
    if (words.size() != 3) reader.fail("{}, expected 'QUERY KEY COUNT'", quoted(reader.line()));
    AnnaEntry entry;
    entry.query = parse_whole(reader, words[0], "query", 0, static_cast<std::int64_t>(weights.num_queries) - 1);
    entry.key = parse_whole(reader, words[1], "key", 0, static_cast<std::int64_t>(weights.num_keys) - 1);
    entry.count = parse_whole(reader, words[2], "count", 1, kMost);
    if (!weights.entries.empty() && !before(weights.entries.back(), entry)) {
      reader.fail("{}, expected pairs in ascending order", quoted(reader.line()));
    }
    weights.entries.push_back(entry);
  }
  reader.expect_end(fmt::format("{} counts", lines));
  return weights;
}

void write_anna_weights(std::ostream& out, const AnnaWeights& weights, const Provenance& provenance) {
  write_comment_lines(out, provenance);
  const AnnaClaim& claim = weights.claim;
  out << fmt::format("p anna-weights {} {} {} {} {} {} {} {}\n", weights.num_queries, weights.num_keys,
                     to_string(claim.metric), claim.radius, claim.ratio, claim.tables, claim.strict ? "strict" : "zero",
                     weights.entries.size());
  for (const AnnaEntry& entry : weights.entries) {
    require(entry.count <= static_cast<std::uint64_t>(kMost), ErrorKind::parameter,
            "anna weights: count {}, expected at most 2^62", entry.count);
    out << entry.query << ' ' << entry.key << ' ' << entry.count << '\n';
  }
}

}  // namespace subquad::verifiers
