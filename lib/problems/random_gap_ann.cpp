#include <subquad/problems/random_gap_ann.hpp>
