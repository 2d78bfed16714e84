// The negative control of the fuzz targets: a writer that is off by one, which reading.hpp must notice.
#include "reading.hpp"

#include <subquad/problems/gap_ann.hpp>

namespace {

/// GapANN with a writer that raises r_no by one.
struct OffByOne : subquad::problems::GapAnn {
  static void write_instance(std::ostream& out, Instance instance, const subquad::Provenance& provenance) {
    ++instance.r_no;
    GapAnn::write_instance(out, instance, provenance);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return subquad::fuzz::read_all<OffByOne>(data, size);
}
