#include <subquad/verifiers/ov_witness.hpp>
