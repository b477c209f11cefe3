// exp and its relatives.
//
// Written by `make generate` from gpubcast/hlo/elementary/exponential.py; do not edit.
#ifndef GB_ELEMENTARY_EXPONENTIAL_CUH
#define GB_ELEMENTARY_EXPONENTIAL_CUH

#include "scalar.cuh"
#include "elementary/native.cuh"

namespace gb {

// e ** x: 2^n e^r with n = round(x / ln 2) and a polynomial in r.
GB_FN float exp(float x0) {
  GB_ENTER
  const float t3 = (x0 < (-104.0f)) ? (-104.0f) : x0;
  const float x = (t3 > 89.0f) ? 89.0f : t3;
  const float n = fma(x, 1.442695f, 12582912.0f) - 12582912.0f;
  const float r = fma(n, -5.769999e-08f, fma(n, -0.6931471f, x));
  const float t21 = fma(fma(fma(0.0013820748f, r, 0.008368677f), r, 0.041668266f), r,
      0.16666521f);
  const float t27 = scaled(fma(fma(fma(t21, r, 0.49999994f), r, 1.0f), r, 1.0f), n);
  return t27;
}

// e ** x: 2^n e^r with n = round(x / ln 2) and a polynomial in r.
GB_FN double exp(double x0) {
  GB_ENTER
  const double t3 = (x0 < (-746.0)) ? (-746.0) : x0;
  const double x = (t3 > 710.0) ? 710.0 : t3;
  const double n = fma(x, 1.4426950408889634, 6755399441055744.0) - 6755399441055744.0;
  const double r = fma(n, -2.3190468138462996e-17, fma(n, -0.6931471805599453, x));
  const double t19 = fma(fma(2.500961773811377e-08, r, 2.7630483934343876e-07), r,
      2.755755553229745e-06);
  const double t23 = fma(fma(t19, r, 2.4801492390655727e-05), r, 0.00019841269542138592);
  const double t27 = fma(fma(t23, r, 0.0013888888944381223), r, 0.008333333333477345);
  const double t33 = fma(fma(fma(t27, r, 0.041666666666526894), r, 0.1666666666666644), r,
      0.5000000000000011);
  return scaled(fma(fma(t33, r, 1.0), r, 1.0), n);
}

// e ** x for a number that is at most 0, or NaN: the same, where no result is large.
GB_FN float exp_nonpositive(float x0) {
  GB_ENTER
  const float x = (x0 < (-104.0f)) ? (-104.0f) : x0;
  const float n = fma(x, 1.442695f, 12582912.0f) - 12582912.0f;
  const float r = fma(n, -5.769999e-08f, fma(n, -0.6931471f, x));
  const float t18 = fma(fma(fma(0.0013820748f, r, 0.008368677f), r, 0.041668266f), r,
      0.16666521f);
  const float t24 = scaled_down(fma(fma(fma(t18, r, 0.49999994f), r, 1.0f), r, 1.0f), n);
  return t24;
}

// e ** x for a number that is at most 0, or NaN: the same, where no result is large.
GB_FN double exp_nonpositive(double x0) {
  GB_ENTER
  const double x = (x0 < (-746.0)) ? (-746.0) : x0;
  const double n = fma(x, 1.4426950408889634, 6755399441055744.0) - 6755399441055744.0;
  const double r = fma(n, -2.3190468138462996e-17, fma(n, -0.6931471805599453, x));
  const double t16 = fma(fma(2.500961773811377e-08, r, 2.7630483934343876e-07), r,
      2.755755553229745e-06);
  const double t20 = fma(fma(t16, r, 2.4801492390655727e-05), r, 0.00019841269542138592);
  const double t24 = fma(fma(t20, r, 0.0013888888944381223), r, 0.008333333333477345);
  const double t30 = fma(fma(fma(t24, r, 0.041666666666526894), r, 0.1666666666666644), r,
      0.5000000000000011);
  return scaled_down(fma(fma(t30, r, 1.0), r, 1.0), n);
}

// 2 ** x: 2^n 2^r with n = round(x) and a polynomial in r.
GB_FN float exp2(float x0) {
  GB_ENTER
  const float t3 = (x0 < (-151.0f)) ? (-151.0f) : x0;
  const float x = (t3 > 129.0f) ? 129.0f : t3;
  const float n = fma(x, 1.0f, 12582912.0f) - 12582912.0f;
  const float t11 = x - n;
  const float t18 = fma(fma(fma(0.00015328907f, t11, 0.0013390976f), t11, 0.0096185f), t11,
      0.055503596f);
  const float t23 = fma(fma(fma(t18, t11, 0.24022648f), t11, 0.6931472f), t11, 1.0f);
  return scaled(t23, n);
}

// 2 ** x: 2^n 2^r with n = round(x) and a polynomial in r.
GB_FN double exp2(double x0) {
  GB_ENTER
  const double t3 = (x0 < (-1076.0)) ? (-1076.0) : x0;
  const double x = (t3 > 1025.0) ? 1025.0 : t3;
  const double n = fma(x, 1.0, 6755399441055744.0) - 6755399441055744.0;
  const double t11 = x - n;
  const double t16 = fma(fma(4.43970939153344e-10, t11, 7.073312527592007e-09), t11,
      1.0178154738384346e-07);
  const double t20 = fma(fma(t16, t11, 1.321543833708892e-06), t11, 1.5252733645546427e-05);
  const double t24 = fma(fma(t20, t11, 0.00015403530450130865), t11, 0.001333355814653625);
  const double t28 = fma(fma(t24, t11, 0.009618129107600636), t11, 0.05550410866482175);
  const double t32 = fma(fma(t28, t11, 0.2402265069591011), t11, 0.6931471805599453);
  return scaled(fma(t32, t11, 1.0), n);
}

// e ** x - 1, accurate near 0: twice 2^(n-1) (e^r - 1) + (2^(n-1) - 1/2).
GB_FN float expm1(float x) {
  GB_ENTER
  const float t3 = (x < (-18.0f)) ? (-18.0f) : x;
  const float t6 = (t3 > 89.0f) ? 89.0f : t3;
  const float t9 = fma(t6, 1.442695f, 12583038.0f);
  const float t10 = t9 - 12583038.0f;
  const float power = bits_as<float>(bits_as<u32>(t9) << 23);
  const float r = fma(t10, -5.769999e-08f, fma(t10, -0.6931471f, t6));
  const float t26 = fma(fma(fma(0.0013820748f, r, 0.008368677f), r, 0.041668266f), r,
      0.16666521f);
  const float y = fma(power, (r * r) * fma(t26, r, 0.49999994f), fma(power, r, power - 0.5f));
  return (fabs(x) < 1.4901161e-08f) ? x : (y * 2.0f);
}

// e ** x - 1, accurate near 0: twice 2^(n-1) (e^r - 1) + (2^(n-1) - 1/2).
GB_FN double expm1(double x) {
  GB_ENTER
  const double t3 = (x < (-39.0)) ? (-39.0) : x;
  const double t6 = (t3 > 710.0) ? 710.0 : t3;
  const double t9 = fma(t6, 1.4426950408889634, 6755399441056766.0);
  const double t10 = t9 - 6755399441056766.0;
  const double power = bits_as<double>(bits_as<u64>(t9) << 52);
  const double r = fma(t10, -2.3190468138462996e-17, fma(t10, -0.6931471805599453, t6));
  const double t24 = fma(fma(2.500961773811377e-08, r, 2.7630483934343876e-07), r,
      2.755755553229745e-06);
  const double t28 = fma(fma(t24, r, 2.4801492390655727e-05), r, 0.00019841269542138592);
  const double t32 = fma(fma(t28, r, 0.0013888888944381223), r, 0.008333333333477345);
  const double t38 = fma(fma(fma(t32, r, 0.041666666666526894), r, 0.1666666666666644), r,
      0.5000000000000011);
  const double y = fma(power, (r * r) * t38, fma(power, r, power - 0.5));
  return (fabs(x) < 2.7755575615628914e-17) ? x : (y * 2.0);
}

// 1 / (1 + e ** -x), as e^-|x| / (1 + e^-|x|) for negative x.
GB_FN float logistic(float x) {
  GB_ENTER
  const float t1 = fabs(x);
  const float y = exp_nonpositive(-t1);
  const float total = 1.0f + y;
  const float low = (t1 > 4e+01f) ? 0.0f : (y - (total - 1.0f));
  const float t13 = (x < 0.0f) ? y : 1.0f;
  const float t14 = 1.0f / total;
  const float t15 = t13 * t14;
  const float t16 = -t15;
  return fma(fma(t16, low, fma(t16, total, t13)), t14, t15);
}

// 1 / (1 + e ** -x), as e^-|x| / (1 + e^-|x|) for negative x.
GB_FN double logistic(double x) {
  GB_ENTER
  const double t1 = fabs(x);
  const double y = exp_nonpositive(-t1);
  const double total = 1.0 + y;
  const double low = (t1 > 40.0) ? 0.0 : (y - (total - 1.0));
  const double t13 = (x < 0.0) ? y : 1.0;
  const double t14 = 1.0 / total;
  const double t15 = t13 * t14;
  const double t16 = -t15;
  return fma(fma(t16, low, fma(t16, total, t13)), t14, t15);
}

}  // namespace gb

#endif
