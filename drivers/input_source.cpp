#include "input_source.hpp"

#include "interruption.hpp"

#include <subquad/core/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <streambuf>

namespace subquad::drivers {

class InputSource::Buffer : public std::streambuf {
 public:
  Buffer(int descriptor, bool owned, std::string path)
      : descriptor_(descriptor), owned_(owned), path_(std::move(path)) {}
  ~Buffer() override {
    if (owned_) ::close(descriptor_);
  }

  Digest drain() {
    while (underflow() != traits_type::eof()) setg(eback(), egptr(), egptr());
    return digester_.finish();
  }

 protected:
  int_type underflow() override {
    if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
    if (at_end_) return traits_type::eof();
    ssize_t size = 0;
    do {
      require(!stop_requested(), ErrorKind::interrupted, "interrupted while reading {}", path_);
      size = ::read(descriptor_, bytes_.data(), bytes_.size());
    } while (size < 0 && errno == EINTR);
    require(size >= 0, ErrorKind::input, "{}: cannot be read ({})", path_, std::strerror(errno));
    if (size == 0) {
      at_end_ = true;
      return traits_type::eof();
    }
    digester_.add_bytes(bytes_.data(), static_cast<std::size_t>(size));
    setg(bytes_.data(), bytes_.data(), bytes_.data() + size);
    return traits_type::to_int_type(*gptr());
  }

 private:
  int descriptor_;
  bool owned_;
  std::string path_;
  bool at_end_ = false;  // a terminal would otherwise be asked again after its end-of-file
  Digester digester_;
  std::array<char, 1 << 16> bytes_{};
};

InputSource::InputSource(const std::string& path) : path_(path) {
  if (path == "-") {
    buffer_ = std::make_unique<Buffer>(STDIN_FILENO, false, "standard input");
  } else {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    require(descriptor >= 0, ErrorKind::input, "{}: cannot be read ({})", path, std::strerror(errno));
    struct stat status = {};
    if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
      ::close(descriptor);
      fail(ErrorKind::input, "{}: is a folder, expected a file", path);
    }
    buffer_ = std::make_unique<Buffer>(descriptor, true, path);
  }
  stream_ = std::make_unique<std::istream>(buffer_.get());
}

InputSource::~InputSource() = default;

std::istream& InputSource::stream() {
  return *stream_;
}

Digest InputSource::digest() {
  return buffer_->drain();
}

Provenance provenance(const std::string& command, InputSource& input) {
  Provenance result;
  result.command = command;
  result.source = input.path() == "-" ? "standard input" : input.path();
  result.source_digest = to_string(input.digest());
  return result;
}

}  // namespace subquad::drivers
