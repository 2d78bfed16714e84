#include <subquad/verifiers/attention_output.hpp>
