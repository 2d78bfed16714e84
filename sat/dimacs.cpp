#include <subquad/sat/dimacs.hpp>
