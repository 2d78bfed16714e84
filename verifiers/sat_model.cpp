#include <subquad/verifiers/sat_model.hpp>
