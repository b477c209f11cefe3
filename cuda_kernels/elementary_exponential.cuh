// exp and its relatives.
//
// Written by `make generate` from gpubcast/elementary/exponential.py; do not edit.
#ifndef GB_ELEMENTARY_EXPONENTIAL_CUH
#define GB_ELEMENTARY_EXPONENTIAL_CUH

#include "scalar.cuh"

namespace gb {

// e ** x: 2^n e^r with n = round(x / ln 2) and a polynomial in r.
GB_FN float exp(float x0) {
  GB_ENTER
  const float t3 = (x0 < (-104.0f)) ? (-104.0f) : x0;
  const float x = (t3 > 89.0f) ? 89.0f : t3;
  const bool t8 = x < 0.0f;
  const float offset = t8 ? 32.0f : (-2.0f);
  const float factor = t8 ? 2.3283064e-10f : 4.0f;
  const float t16 = offset + 12583039.0f;
  const float t18 = fma(x, 1.442695f, t16);
  const float t19 = t18 - t16;
  const float power = bits_as<float>(bits_as<u32>(t18) << 23);
  const float r = fma(t19, -5.769999e-08f, fma(t19, -0.6931471f, x));
  const float t35 = fma(fma(fma(0.0013820748f, r, 0.008368677f), r, 0.041668266f), r,
      0.16666521f);
  const float y = fma(r * r, fma(t35, r, 0.49999994f), r) + 1.0f;
  return (y * power) * factor;
}

// e ** x: 2^n e^r with n = round(x / ln 2) and a polynomial in r.
GB_FN double exp(double x0) {
  GB_ENTER
  const double t3 = (x0 < (-746.0)) ? (-746.0) : x0;
  const double x = (t3 > 710.0) ? 710.0 : t3;
  const bool t8 = x < 0.0;
  const double offset = t8 ? 128.0 : (-2.0);
  const double factor = t8 ? 2.938735877055719e-39 : 4.0;
  const double t16 = offset + 6755399441056767.0;
  const double t18 = fma(x, 1.4426950408889634, t16);
  const double t19 = t18 - t16;
  const double power = bits_as<double>(bits_as<u64>(t18) << 52);
  const double r = fma(t19, -2.3190468138462996e-17, fma(t19, -0.6931471805599453, x));
  const double t33 = fma(fma(2.500961773811377e-08, r, 2.7630483934343876e-07), r,
      2.755755553229745e-06);
  const double t37 = fma(fma(t33, r, 2.4801492390655727e-05), r, 0.00019841269542138592);
  const double t41 = fma(fma(t37, r, 0.0013888888944381223), r, 0.008333333333477345);
  const double t47 = fma(fma(fma(t41, r, 0.041666666666526894), r, 0.1666666666666644), r,
      0.5000000000000011);
  const double y = fma(r * r, t47, r) + 1.0;
  return (y * power) * factor;
}

// 2 ** x: 2^n 2^r with n = round(x) and a polynomial in r.
GB_FN float exp2(float x0) {
  GB_ENTER
  const float t3 = (x0 < (-151.0f)) ? (-151.0f) : x0;
  const float x = (t3 > 129.0f) ? 129.0f : t3;
  const bool t8 = x < 0.0f;
  const float offset = t8 ? 32.0f : (-2.0f);
  const float factor = t8 ? 2.3283064e-10f : 4.0f;
  const float t16 = offset + 12583039.0f;
  const float t18 = fma(x, 1.0f, t16);
  const float n = t18 - t16;
  const float power = bits_as<float>(bits_as<u32>(t18) << 23);
  const float r = x - n;
  const float t31 = fma(fma(fma(0.00015328907f, r, 0.0013390976f), r, 0.0096185f), r,
      0.055503596f);
  const float y = fma(r, fma(fma(t31, r, 0.24022648f), r, 0.6931472f), 1.0f);
  return (y * power) * factor;
}

// 2 ** x: 2^n 2^r with n = round(x) and a polynomial in r.
GB_FN double exp2(double x0) {
  GB_ENTER
  const double t3 = (x0 < (-1076.0)) ? (-1076.0) : x0;
  const double x = (t3 > 1025.0) ? 1025.0 : t3;
  const bool t8 = x < 0.0;
  const double offset = t8 ? 128.0 : (-2.0);
  const double factor = t8 ? 2.938735877055719e-39 : 4.0;
  const double t16 = offset + 6755399441056767.0;
  const double t18 = fma(x, 1.0, t16);
  const double n = t18 - t16;
  const double power = bits_as<double>(bits_as<u64>(t18) << 52);
  const double r = x - n;
  const double t29 = fma(fma(4.43970939153344e-10, r, 7.073312527592007e-09), r,
      1.0178154738384346e-07);
  const double t33 = fma(fma(t29, r, 1.321543833708892e-06), r, 1.5252733645546427e-05);
  const double t37 = fma(fma(t33, r, 0.00015403530450130865), r, 0.001333355814653625);
  const double t41 = fma(fma(t37, r, 0.009618129107600636), r, 0.05550410866482175);
  const double y = fma(r, fma(fma(t41, r, 0.2402265069591011), r, 0.6931471805599453), 1.0);
  return (y * power) * factor;
}

// e ** x - 1, accurate near 0: twice 2^(n-1) (e^r - 1) + (2^(n-1) - 1/2).
GB_FN float expm1(float x) {
  GB_ENTER
  const float t3 = (x < (-18.0f)) ? (-18.0f) : x;
  const float t6 = (t3 > 89.0f) ? 89.0f : t3;
  const float t9 = fma(t6, 1.442695f, 12583038.0f);
  const float t10 = t9 - 12583038.0f;
  const float t14 = bits_as<float>(bits_as<u32>(t9) << 23);
  const float t18 = fma(t10, -5.769999e-08f, fma(t10, -0.6931471f, t6));
  const float t26 = fma(fma(fma(0.0013820748f, t18, 0.008368677f), t18, 0.041668266f), t18,
      0.16666521f);
  const float y = fma(t14, (t18 * t18) * fma(t26, t18, 0.49999994f), fma(t14, t18, t14 -
      0.5f));
  return (fabs(x) < 1.4901161e-08f) ? x : (y * 2.0f);
}

// e ** x - 1, accurate near 0: twice 2^(n-1) (e^r - 1) + (2^(n-1) - 1/2).
GB_FN double expm1(double x) {
  GB_ENTER
  const double t3 = (x < (-39.0)) ? (-39.0) : x;
  const double t6 = (t3 > 710.0) ? 710.0 : t3;
  const double t9 = fma(t6, 1.4426950408889634, 6755399441056766.0);
  const double t10 = t9 - 6755399441056766.0;
  const double t14 = bits_as<double>(bits_as<u64>(t9) << 52);
  const double t18 = fma(t10, -2.3190468138462996e-17, fma(t10, -0.6931471805599453, t6));
  const double t24 = fma(fma(2.500961773811377e-08, t18, 2.7630483934343876e-07), t18,
      2.755755553229745e-06);
  const double t28 = fma(fma(t24, t18, 2.4801492390655727e-05), t18, 0.00019841269542138592);
  const double t32 = fma(fma(t28, t18, 0.0013888888944381223), t18, 0.008333333333477345);
  const double t36 = fma(fma(t32, t18, 0.041666666666526894), t18, 0.1666666666666644);
  const double y = fma(t14, (t18 * t18) * fma(t36, t18, 0.5000000000000011), fma(t14, t18,
      t14 - 0.5));
  return (fabs(x) < 2.7755575615628914e-17) ? x : (y * 2.0);
}

// 1 / (1 + e ** -x), as e^-|x| / (1 + e^-|x|) for negative x.
GB_FN float logistic(float x) {
  GB_ENTER
  const float t1 = fabs(x);
  const float y = exp(-t1);
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
  const double y = exp(-t1);
  const double total = 1.0 + y;
  const double low = (t1 > 40.0) ? 0.0 : (y - (total - 1.0));
  const double t13 = (x < 0.0) ? y : 1.0;
  const double t14 = 1.0 / total;
  const double t15 = t13 * t14;
  const double t16 = -t15;
  return fma(fma(t16, low, fma(t16, total, t13)), t14, t15);
}

// (e^x - e^-x) / 2 from sinh r and cosh r: no large parts cancel.
GB_FN float sinh(float x) {
  GB_ENTER
  const float t1 = fabs(x);
  const float t4 = (t1 > 89.7f) ? 89.7f : t1;
  const float t7 = fma(t4, 1.442695f, 12583037.0f);
  const float t8 = t7 - 12583037.0f;
  const float up = bits_as<float>(bits_as<u32>(t7) << 23);
  const float r = fma(t8, -5.769999e-08f, fma(t8, -0.6931471f, t4));
  const float down = (t4 > 4e+01f) ? 0.0f : bits_as<float>(0x7d000000u - bits_as<u32>(up));
  const float t25 = r * r;
  const float odd = (r * t25) * fma(fma(0.00019974091f, t25, 0.008333175f), t25, 0.16666667f);
  const float even = t25 * fma(fma(0.0013935429f, t25, 0.04166646f), t25, 0.5f);
  const float plus = up + down;
  const float t40 = -down;
  const float minus = up + t40;
  const float low = t40 - (minus - up);
  const float t49 = (minus + fma(plus, r, fma(plus, odd, fma(minus, even, low)))) * 2.0f;
  const float y = (t1 < 0.00012207031f) ? t1 : t49;
  const float t58 = bits_as<float>(bits_as<u32>(y) | (bits_as<u32>(x) & 0x80000000u));
  return t58;
}

// (e^x - e^-x) / 2 from sinh r and cosh r: no large parts cancel.
GB_FN double sinh(double x) {
  GB_ENTER
  const double t1 = fabs(x);
  const double t4 = (t1 > 710.6) ? 710.6 : t1;
  const double t7 = fma(t4, 1.4426950408889634, 6755399441056765.0);
  const double t8 = t7 - 6755399441056765.0;
  const double up = bits_as<double>(bits_as<u64>(t7) << 52);
  const double r = fma(t8, -2.3190468138462996e-17, fma(t8, -0.6931471805599453, t4));
  const double down = (t4 > 40.0) ? 0.0 : bits_as<double>(0x7fa0000000000000ull -
      bits_as<u64>(up));
  const double t25 = r * r;
  const double t31 = fma(fma(2.51091840165001e-08, t25, 2.7557243771768973e-06), t25,
      0.00019841269886582325);
  const double t35 = fma(fma(t31, t25, 0.008333333333321438), t25, 0.16666666666666677);
  const double odd = (r * t25) * t35;
  const double t41 = fma(fma(2.763157299673189e-07, t25, 2.480148905924787e-05), t25,
      0.0013888888947952876);
  const double t45 = fma(fma(t41, t25, 0.041666666666511365), t25, 0.5000000000000013);
  const double even = t25 * t45;
  const double plus = up + down;
  const double t48 = -down;
  const double minus = up + t48;
  const double low = t48 - (minus - up);
  const double t57 = (minus + fma(plus, r, fma(plus, odd, fma(minus, even, low)))) * 2.0;
  const double y = (t1 < 3.725290298461914e-09) ? t1 : t57;
  const double t66 = bits_as<double>(bits_as<u64>(y) | (bits_as<u64>(x) &
      0x8000000000000000ull));
  return t66;
}

// (e^x + e^-x) / 2 from sinh r and cosh r.
GB_FN float cosh(float x) {
  GB_ENTER
  const float t1 = fabs(x);
  const float t4 = (t1 > 89.7f) ? 89.7f : t1;
  const float t7 = fma(t4, 1.442695f, 12583037.0f);
  const float t8 = t7 - 12583037.0f;
  const float up = bits_as<float>(bits_as<u32>(t7) << 23);
  const float r = fma(t8, -5.769999e-08f, fma(t8, -0.6931471f, t4));
  const float down = (t4 > 4e+01f) ? 0.0f : bits_as<float>(0x7d000000u - bits_as<u32>(up));
  const float t25 = r * r;
  const float odd = (r * t25) * fma(fma(0.00019974091f, t25, 0.008333175f), t25, 0.16666667f);
  const float even = t25 * fma(fma(0.0013935429f, t25, 0.04166646f), t25, 0.5f);
  const float minus = up - down;
  const float t44 = up + fma(minus, r, fma(minus, odd, fma(up + down, even, down)));
  return t44 * 2.0f;
}

// (e^x + e^-x) / 2 from sinh r and cosh r.
GB_FN double cosh(double x) {
  GB_ENTER
  const double t1 = fabs(x);
  const double t4 = (t1 > 710.6) ? 710.6 : t1;
  const double t7 = fma(t4, 1.4426950408889634, 6755399441056765.0);
  const double t8 = t7 - 6755399441056765.0;
  const double up = bits_as<double>(bits_as<u64>(t7) << 52);
  const double r = fma(t8, -2.3190468138462996e-17, fma(t8, -0.6931471805599453, t4));
  const double down = (t4 > 40.0) ? 0.0 : bits_as<double>(0x7fa0000000000000ull -
      bits_as<u64>(up));
  const double t25 = r * r;
  const double t31 = fma(fma(2.51091840165001e-08, t25, 2.7557243771768973e-06), t25,
      0.00019841269886582325);
  const double t35 = fma(fma(t31, t25, 0.008333333333321438), t25, 0.16666666666666677);
  const double odd = (r * t25) * t35;
  const double t41 = fma(fma(2.763157299673189e-07, t25, 2.480148905924787e-05), t25,
      0.0013888888947952876);
  const double t45 = fma(fma(t41, t25, 0.041666666666511365), t25, 0.5000000000000013);
  const double even = t25 * t45;
  const double minus = up - down;
  const double t52 = up + fma(minus, r, fma(minus, odd, fma(up + down, even, down)));
  return t52 * 2.0;
}

// The hyperbolic tangent: with y = e^(2|x|) - 1 it is y / (y + 2), with the sign of x.
GB_FN float tanh(float x) {
  GB_ENTER
  const float t1 = fabs(x);
  const float a = (t1 > 9.1f) ? 9.1f : t1;
  const float t5 = a + a;
  const float t8 = fma(t5, 1.442695f, 12583039.0f);
  const float t9 = t8 - 12583039.0f;
  const float t13 = bits_as<float>(bits_as<u32>(t8) << 23);
  const float t17 = fma(t9, -5.769999e-08f, fma(t9, -0.6931471f, t5));
  const float t25 = fma(fma(fma(0.0013820748f, t17, 0.008368677f), t17, 0.041668266f), t17,
      0.16666521f);
  const float t28 = (t17 * t17) * fma(t25, t17, 0.49999994f);
  const float t31 = fma(t13, t17, t13 - 1.0f);
  const float t32 = fma(t13, t28, t31);
  const float low = fma(t13, t28, t31 - t32);
  const float below = t32 + 2.0f;
  const float t40 = 1.0f / below;
  const float t41 = t32 * t40;
  const float t42 = -t41;
  const float t45 = fma(t42, ((2.0f - below) + t32) + low, fma(t42, below, t32)) + low;
  const float y = fma(t45, t40, t41);
  const float t52 = bits_as<float>(bits_as<u32>(y) | (bits_as<u32>(x) & 0x80000000u));
  return t52;
}

// The hyperbolic tangent: with y = e^(2|x|) - 1 it is y / (y + 2), with the sign of x.
GB_FN double tanh(double x) {
  GB_ENTER
  const double t1 = fabs(x);
  const double a = (t1 > 19.1) ? 19.1 : t1;
  const double t5 = a + a;
  const double t8 = fma(t5, 1.4426950408889634, 6755399441056767.0);
  const double t9 = t8 - 6755399441056767.0;
  const double t13 = bits_as<double>(bits_as<u64>(t8) << 52);
  const double t17 = fma(t9, -2.3190468138462996e-17, fma(t9, -0.6931471805599453, t5));
  const double t23 = fma(fma(2.500961773811377e-08, t17, 2.7630483934343876e-07), t17,
      2.755755553229745e-06);
  const double t27 = fma(fma(t23, t17, 2.4801492390655727e-05), t17, 0.00019841269542138592);
  const double t31 = fma(fma(t27, t17, 0.0013888888944381223), t17, 0.008333333333477345);
  const double t35 = fma(fma(t31, t17, 0.041666666666526894), t17, 0.1666666666666644);
  const double t38 = (t17 * t17) * fma(t35, t17, 0.5000000000000011);
  const double t41 = fma(t13, t17, t13 - 1.0);
  const double t42 = fma(t13, t38, t41);
  const double low = fma(t13, t38, t41 - t42);
  const double below = t42 + 2.0;
  const double t50 = 1.0 / below;
  const double t51 = t42 * t50;
  const double t52 = -t51;
  const double t55 = fma(t52, ((2.0 - below) + t42) + low, fma(t52, below, t42)) + low;
  const double y = fma(t55, t50, t51);
  const double t62 = bits_as<double>(bits_as<u64>(y) | (bits_as<u64>(x) &
      0x8000000000000000ull));
  return t62;
}

}  // namespace gb

#endif
