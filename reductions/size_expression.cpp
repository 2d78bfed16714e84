#include <subquad/reductions/size_expression.hpp>
