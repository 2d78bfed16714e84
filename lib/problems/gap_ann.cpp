#include <subquad/problems/gap_ann.hpp>
