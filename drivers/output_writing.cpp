#include "output_writing.hpp"

#include "interruption.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/output_file.hpp>

#include <array>
#include <streambuf>

namespace subquad::drivers {

namespace {

// Hands blocks on to another stream and looks at the stop flag before each.
class InterruptibleBuffer : public std::streambuf {
 public:
  explicit InterruptibleBuffer(std::ostream& sink) : sink_(sink) { setp(bytes_.data(), bytes_.data() + bytes_.size()); }

 protected:
  int_type overflow(int_type byte) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(byte, traits_type::eof())) sputc(traits_type::to_char_type(byte));
    return traits_type::not_eof(byte);
  }

  int sync() override {
    require(!stop_requested(), ErrorKind::interrupted, "interrupted while writing");
    sink_.write(pbase(), pptr() - pbase());
    setp(bytes_.data(), bytes_.data() + bytes_.size());
    return sink_.good() ? 0 : -1;
  }

 private:
  std::ostream& sink_;
  std::array<char, 1 << 16> bytes_{};
};

}  // namespace

void write_output(const std::string& path, const std::function<void(std::ostream&)>& write) {
  OutputFile file(path);
  InterruptibleBuffer buffer(file.stream());
  std::ostream stream(&buffer);
  // Without this, a stream swallows what its buffer throws. Failed writes are left to commit(), which names the file.
  stream.exceptions(std::ios::badbit);
  try {
    write(stream);
    stream.flush();
  } catch (const std::ios_base::failure&) {
    require(!file.stream().good(), ErrorKind::internal, "{}: writing failed without a failed write", path);
  }
  file.commit();
}

}  // namespace subquad::drivers
