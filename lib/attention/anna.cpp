#include <subquad/attention/anna.hpp>
