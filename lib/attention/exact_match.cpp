#include <subquad/attention/exact_match.hpp>
