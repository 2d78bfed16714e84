// Text round trip: what a problem's text format writes must read back as the same value.
#pragma once

#include <subquad/core/error.hpp>
#include <subquad/core/problem.hpp>

#include <sstream>
#include <string>

namespace subquad::test {

/// A provenance whose command tries to break out of its comment.
inline Provenance hostile_provenance() {
  return {"subquad gen\np ov 1 1 1", 3, "x\ry", "00"};
}

template <Problem P>
std::string instance_text(const typename P::Instance& instance) {
  std::ostringstream out;
  P::write_instance(out, instance, hostile_provenance());
  return out.str();
}

template <Problem P>
typename P::Instance read_instance_text(const std::string& text, const std::string& name = "t") {
  std::istringstream in(text);
  return P::read_instance(in, name);
}

template <Problem P>
std::string answer_text(const typename P::Instance& instance, const typename P::Answer& answer) {
  std::ostringstream out;
  P::write_answer(out, instance, answer, hostile_provenance());
  return out.str();
}

template <Problem P>
AnswerFile<typename P::Answer> read_answer_text(const std::string& text) {
  std::istringstream in(text);
  return P::read_answer(in, "t");
}

/// The instance survives the text, and so does its digest.
template <Problem P>
bool survives_text(const typename P::Instance& instance) {
  const typename P::Instance copy = read_instance_text<P>(instance_text<P>(instance));
  return copy == instance && P::digest(copy) == P::digest(instance);
}

/// The answer survives the text and names its instance.
template <Problem P>
bool answer_survives_text(const typename P::Instance& instance, const typename P::Answer& answer) {
  const AnswerFile<typename P::Answer> file = read_answer_text<P>(answer_text<P>(instance, answer));
  return file.answer == answer && file.instance == P::digest(instance);
}

/// The message of the Error(input) that reading this answer throws; empty if it is accepted.
template <Problem P>
std::string answer_refusal(const std::string& text) {
  try {
    read_answer_text<P>(text);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::input ? error.what() : "wrong kind: " + std::string(error.what());
  }
  return "";
}

/// One line, "NAME:LINE: what, expected what", without control characters.
inline bool well_worded(const std::string& message) {
  for (const char c : message)
    if (static_cast<unsigned char>(c) < 0x20) return false;
  return !message.empty() && message.back() != '.';
}

}  // namespace subquad::test
