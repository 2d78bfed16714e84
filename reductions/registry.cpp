#include <subquad/reductions/registry.hpp>
