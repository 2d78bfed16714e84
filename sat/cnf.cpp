#include <subquad/sat/cnf.hpp>
