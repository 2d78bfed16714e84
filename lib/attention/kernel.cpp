#include <subquad/attention/kernel.hpp>
