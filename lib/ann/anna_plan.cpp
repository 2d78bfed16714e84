#include <subquad/ann/anna_plan.hpp>
