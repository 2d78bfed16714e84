#include <subquad/exact/interval.hpp>
