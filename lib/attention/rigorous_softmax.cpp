#include <subquad/attention/rigorous_softmax.hpp>
