#include <subquad/problems/attention.hpp>
