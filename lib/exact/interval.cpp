#include <subquad/core/error.hpp>
#include <subquad/exact/interval.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>

namespace subquad::exact {
namespace {

mpfr_prec_t checked_precision(int precision_bits) {
  require(precision_bits >= Interval::kMinPrecisionBits && precision_bits <= Interval::kMaxPrecisionBits,
          ErrorKind::parameter, "interval: precision is {} bits, expected {} to {}", precision_bits,
          Interval::kMinPrecisionBits, Interval::kMaxPrecisionBits);
  return precision_bits;
}

int larger_precision(const Interval& x, const Interval& y) {
  return std::max(x.precision_bits(), y.precision_bits());
}

/// Frees MPFR's caches of this thread when the thread ends; MPFR itself leaves them behind.
struct ThreadCaches {
  ~ThreadCaches() { mpfr_free_cache(); }
};

std::string decimal(mpfr_srcptr value, int digits, bool upward) {
  char* text = nullptr;
  const int length =
      upward ? mpfr_asprintf(&text, "%.*RUg", digits, value) : mpfr_asprintf(&text, "%.*RDg", digits, value);
  require(length >= 0 && text != nullptr, ErrorKind::internal, "interval: MPFR cannot print a number");
  std::string result(text);
  mpfr_free_str(text);
  return result;
}

}  // namespace

Interval::Interval(int precision_bits) {
  [[maybe_unused]] static thread_local const ThreadCaches caches;
  mpfi_init2(value_, checked_precision(precision_bits));
  mpfi_set_ui(value_, 0);
}

Interval::Interval(const Interval& other) {
  mpfi_init2(value_, mpfi_get_prec(other.value_));
  mpfi_set(value_, other.value_);
}

Interval::Interval(Interval&& other) noexcept : owns_(std::exchange(other.owns_, false)) {
  *value_ = *other.value_;
}

Interval& Interval::operator=(const Interval& other) {
  if (this == &other) return *this;
  if (!owns_ || mpfi_get_prec(value_) != mpfi_get_prec(other.value_)) return *this = Interval(other);
  mpfi_set(value_, other.value_);
  return *this;
}

Interval& Interval::operator=(Interval&& other) noexcept {
  std::swap(*value_, *other.value_);
  std::swap(owns_, other.owns_);
  return *this;
}

Interval::~Interval() {
  if (owns_) mpfi_clear(value_);
}

Interval Interval::from_double(double value, int precision_bits) {
  require(std::isfinite(value), ErrorKind::parameter, "interval: {} is not a real number", value);
  Interval result(precision_bits);
  mpfi_set_d(result.value_, value);
  return result;
}

Interval Interval::from_integer(std::int64_t value, int precision_bits) {
  static_assert(sizeof(long) == sizeof(std::int64_t));
  Interval result(precision_bits);
  mpfi_set_si(result.value_, value);
  return result;
}

Interval Interval::from_rational(const Rational& value, int precision_bits) {
  Interval result(precision_bits);
  mpfi_set_q(result.value_, value.backend().data());
  return result;
}

Interval Interval::between(double low, double high, int precision_bits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  require(low <= high && low < kInfinity && high > -kInfinity, ErrorKind::parameter,
          "interval: [{}, {}] holds no real number", low, high);
  Interval result(precision_bits);
  mpfi_interv_d(result.value_, low, high);
  return result;
}

Interval Interval::entire(int precision_bits) {
  Interval result(precision_bits);
  mpfr_set_inf(&result.value_->left, -1);
  mpfr_set_inf(&result.value_->right, +1);
  return result;
}

int Interval::precision_bits() const noexcept {
  return static_cast<int>(mpfi_get_prec(value_));
}

// Adding +0 turns the -0 that MPFI uses for some ends into +0, and changes nothing else.
double Interval::low() const {
  return mpfr_get_d(&value_->left, MPFR_RNDD) + 0.0;
}

double Interval::high() const {
  return mpfr_get_d(&value_->right, MPFR_RNDU) + 0.0;
}

double Interval::width() const {
  mpfr_t difference;
  mpfr_init2(difference, std::numeric_limits<double>::digits);
  mpfr_sub(difference, &value_->right, &value_->left, MPFR_RNDU);
  const double result = mpfr_get_d(difference, MPFR_RNDU) + 0.0;
  mpfr_clear(difference);
  return result;
}

Interval Interval::upper_end() const {
  require(mpfr_number_p(&value_->right) != 0, ErrorKind::parameter, "interval: the upper end is infinite");
  Interval result(precision_bits());
  mpfi_set_fr(result.value_, &value_->right);
  return result;
}

Interval Interval::lower_end() const {
  require(mpfr_number_p(&value_->left) != 0, ErrorKind::parameter, "interval: the lower end is infinite");
  Interval result(precision_bits());
  mpfi_set_fr(result.value_, &value_->left);
  return result;
}

bool Interval::is_point() const {
  return mpfr_equal_p(&value_->left, &value_->right) != 0;
}

bool Interval::is_bounded() const {
  return mpfr_number_p(&value_->left) != 0 && mpfr_number_p(&value_->right) != 0;
}

bool Interval::contains(double value) const {
  return std::isfinite(value) && mpfr_cmp_d(&value_->left, value) <= 0 && mpfr_cmp_d(&value_->right, value) >= 0;
}

bool Interval::contains(const Rational& value) const {
  return mpfr_cmp_q(&value_->left, value.backend().data()) <= 0 &&
         mpfr_cmp_q(&value_->right, value.backend().data()) >= 0;
}

bool Interval::contains(const Interval& other) const {
  return mpfr_lessequal_p(&value_->left, &other.value_->left) != 0 &&
         mpfr_greaterequal_p(&value_->right, &other.value_->right) != 0;
}

// MPFI marks "no bound known" by NaN ends; here such a result is the set of all reals.
void Interval::settle() {
  if (mpfi_nan_p(value_) != 0) {
    mpfr_set_inf(&value_->left, -1);
    mpfr_set_inf(&value_->right, +1);
  }
}

Interval& Interval::operator+=(const Interval& other) {
  mpfi_add(value_, value_, other.value_);
  settle();
  return *this;
}

Interval& Interval::operator-=(const Interval& other) {
  mpfi_sub(value_, value_, other.value_);
  settle();
  return *this;
}

Interval& Interval::operator*=(const Interval& other) {
  mpfi_mul(value_, value_, other.value_);
  settle();
  return *this;
}

Interval& Interval::operator/=(const Interval& other) {
  if (mpfr_sgn(&other.value_->left) <= 0 && mpfr_sgn(&other.value_->right) >= 0) {
    require(!other.is_point(), ErrorKind::parameter, "interval: division by zero");
    mpfr_set_inf(&value_->left, -1);
    mpfr_set_inf(&value_->right, +1);
    return *this;
  }
  mpfi_div(value_, value_, other.value_);
  settle();
  return *this;
}

Interval& Interval::add_product(double x, double y) {
  require(std::isfinite(x) && std::isfinite(y), ErrorKind::parameter,
          "interval: {} * {} is not a product of real numbers", x, y);
  constexpr int kProductBits = 2 * std::numeric_limits<double>::digits;
  MPFR_DECL_INIT(product, kProductBits);
  mpfr_set_d(product, x, MPFR_RNDN);
  mpfr_mul_d(product, product, y, MPFR_RNDN);  // exact: 106 bits hold it, and MPFR's exponents do not underflow here
  mpfi_add_fr(value_, value_, product);
  settle();
  return *this;
}

std::string Interval::to_string(int digits) const {
  require(digits >= 1 && digits <= 1'000'000, ErrorKind::parameter, "interval: {} digits, expected 1 to 1000000",
          digits);
  return fmt::format("[{}, {}]", decimal(&value_->left, digits, false), decimal(&value_->right, digits, true));
}

Interval operator+(const Interval& x, const Interval& y) {
  Interval result(larger_precision(x, y));
  mpfi_add(result.value_, x.value_, y.value_);
  result.settle();
  return result;
}

Interval operator-(const Interval& x, const Interval& y) {
  Interval result(larger_precision(x, y));
  mpfi_sub(result.value_, x.value_, y.value_);
  result.settle();
  return result;
}

Interval operator*(const Interval& x, const Interval& y) {
  Interval result(larger_precision(x, y));
  mpfi_mul(result.value_, x.value_, y.value_);
  result.settle();
  return result;
}

Interval operator/(const Interval& x, const Interval& y) {
  Interval result(larger_precision(x, y));
  mpfi_set(result.value_, x.value_);
  result /= y;
  return result;
}

Interval operator-(const Interval& x) {
  Interval result(x.precision_bits());
  mpfi_neg(result.value_, x.value_);
  return result;
}

Interval abs(const Interval& x) {
  Interval result(x.precision_bits());
  mpfi_abs(result.value_, x.value_);
  result.settle();
  return result;
}

Interval exp(const Interval& x) {
  Interval result(x.precision_bits());
  mpfi_exp(result.value_, x.value_);
  result.settle();
  return result;
}

Interval log(const Interval& x) {
  require(mpfr_sgn(&x.value_->left) >= 0 && mpfr_sgn(&x.value_->right) > 0, ErrorKind::parameter,
          "interval: logarithm of {}, expected positive numbers", x.to_string());
  Interval result(x.precision_bits());
  // Not mpfi_log: an end at -0 must count as 0.
  mpfr_log(&result.value_->right, &x.value_->right, MPFR_RNDU);
  if (mpfr_zero_p(&x.value_->left) != 0) {
    mpfr_set_inf(&result.value_->left, -1);
  } else {
    mpfr_log(&result.value_->left, &x.value_->left, MPFR_RNDD);
  }
  return result;
}

Interval sqrt(const Interval& x) {
  require(mpfr_sgn(&x.value_->left) >= 0, ErrorKind::parameter,
          "interval: square root of {}, expected no negative numbers", x.to_string());
  Interval result(x.precision_bits());
  mpfi_sqrt(result.value_, x.value_);
  result.settle();
  return result;
}

Interval pow(const Interval& x, std::uint64_t exponent) {
  const Interval base = exponent % 2 == 0 ? abs(x) : x;  // on |x|, and for odd exponents, the power is monotone
  Interval result(x.precision_bits());
  mpfr_pow_ui(&result.value_->left, &base.value_->left, exponent, MPFR_RNDD);
  mpfr_pow_ui(&result.value_->right, &base.value_->right, exponent, MPFR_RNDU);
  result.settle();
  return result;
}

Interval max(const Interval& x, const Interval& y) {
  Interval result(larger_precision(x, y));
  mpfr_max(&result.value_->left, &x.value_->left, &y.value_->left, MPFR_RNDD);
  mpfr_max(&result.value_->right, &x.value_->right, &y.value_->right, MPFR_RNDU);
  return result;
}

Interval min(const Interval& x, const Interval& y) {
  Interval result(larger_precision(x, y));
  mpfr_min(&result.value_->left, &x.value_->left, &y.value_->left, MPFR_RNDD);
  mpfr_min(&result.value_->right, &x.value_->right, &y.value_->right, MPFR_RNDU);
  return result;
}

Interval hull(const Interval& x, const Interval& y) {
  Interval result(larger_precision(x, y));
  mpfi_union(result.value_, x.value_, y.value_);
  return result;
}

Interval intersect(const Interval& x, const Interval& y) {
  require(mpfr_lessequal_p(&x.value_->left, &y.value_->right) != 0 &&
              mpfr_lessequal_p(&y.value_->left, &x.value_->right) != 0,
          ErrorKind::internal, "interval: {} and {} have no number in common", x.to_string(), y.to_string());
  Interval result(larger_precision(x, y));
  mpfr_max(&result.value_->left, &x.value_->left, &y.value_->left, MPFR_RNDD);
  mpfr_min(&result.value_->right, &x.value_->right, &y.value_->right, MPFR_RNDU);
  return result;
}

Comparison compare(const Interval& x, const Interval& y) {
  if (mpfr_less_p(&x.value_->right, &y.value_->left) != 0) return Comparison::less;
  if (mpfr_greater_p(&x.value_->left, &y.value_->right) != 0) return Comparison::greater;
  if (x.is_point() && y.is_point()) return Comparison::equal;
  return Comparison::unknown;
}

bool certainly_at_most(const Interval& x, const Interval& y) {
  return mpfr_lessequal_p(&x.value_->right, &y.value_->left) != 0;
}

}  // namespace subquad::exact
