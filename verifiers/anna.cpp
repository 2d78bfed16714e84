#include <subquad/verifiers/anna.hpp>
