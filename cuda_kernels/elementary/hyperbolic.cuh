// The hyperbolic functions, from exp's reduction of the argument.
//
// Written by `make generate` from gpubcast/hlo/elementary/hyperbolic.py; do not edit.
#ifndef GB_ELEMENTARY_HYPERBOLIC_CUH
#define GB_ELEMENTARY_HYPERBOLIC_CUH

#include "scalar.cuh"

namespace gb {

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

#ifndef GB_HAS_TABLE_fd47007a
#define GB_HAS_TABLE_fd47007a
GB_TABLE float TABLE_fd47007a[8][8] = {
  {0.39304185f, 0.80364954f, 1.396349f, 2.2144308f,
   3.4721856f, 5.100353f, 7.568695f, 0.09581852f,
  },
  {-0.048499253f, -0.17119081f, -0.11544009f, -0.023574919f,
   -0.0019262228f, -7.428477e-05f, -5.30058e-07f, -0.0030491976f,
  },
  {-0.23244725f, -0.33902994f, 0.21755373f, 0.04659406f,
   0.0038486943f, 0.00014856059f, 1.0598567e-06f, -0.06341243f,
  },
  {-0.22701718f, -0.03924342f, -0.1924388f, -0.045495436f,
   -0.0038419708f, -0.00014858702f, -1.0865989e-06f, -0.32605615f,
  },
  {0.1541915f, 0.12520172f, 0.09770832f, 0.028891535f,
   0.0025520665f, 9.909577e-05f, 7.3672754e-07f, 0.05016377f,
  },
  {0.038850293f, -0.052950982f, -0.022297379f, -0.013051409f,
   -0.0012608763f, -4.9246493e-05f, -3.188743e-07f, 0.1260282f,
  },
  {-0.07029035f, -0.012666348f, -0.008065761f, 0.0041465755f,
   0.0004943314f, 1.9494038e-05f, 1.1638267e-07f, -0.02999337f,
  },
  {0.005776209f, 0.02328006f, 0.010421984f, -0.0006462f,
   -0.0001728086f, -7.202285e-06f, -6.840868e-08f, -0.048272844f,
  },
};
#endif
// The hyperbolic tangent. F32: by a polynomial for each of eight intervals. F64: by the
// addition theorem from those of n ln(2) / 2, (2^n - 1) / (2^n + 1), and of r.
GB_FN float tanh(float x) {
  GB_ENTER
  const float t3 = at_most(fabs(x), 9.1f);
  const u32 t9 = bits_as<u32>(fma(t3, 2.46875f, 1.53125f)) >> 22;
  const float t10 = TABLE_fd47007a[0][t9 & 7];
  const float t11 = t3 - t10;
  const float t23 = fma(bits_as<float>(bits_as<u32>(t10) << 16), t11, TABLE_fd47007a[7][t9 &
      7]);
  const float t25 = fma(fma(t23, t11, TABLE_fd47007a[6][t9 & 7]), t11, TABLE_fd47007a[5][t9 &
      7]);
  const float t27 = fma(fma(t25, t11, TABLE_fd47007a[4][t9 & 7]), t11, TABLE_fd47007a[3][t9 &
      7]);
  const float t29 = fma(fma(t27, t11, TABLE_fd47007a[2][t9 & 7]), t11, TABLE_fd47007a[1][t9 &
      7]);
  const float t33 = at_most(at_least(x, -1.0f), 1.0f);
  return fma(t29, t33, t33);
}

// The hyperbolic tangent. F32: by a polynomial for each of eight intervals. F64: by the
// addition theorem from those of n ln(2) / 2, (2^n - 1) / (2^n + 1), and of r.
GB_FN double tanh(double x) {
  GB_ENTER
  const double t1 = fabs(x);
  const double a = (t1 > 19.1) ? 19.1 : t1;
  const double t9 = fma(a - 0.0825, 2.8853900817779268, 6755399441056767.0);
  const double n = t9 - 6755399441056767.0;
  const double power = bits_as<double>(bits_as<u64>(t9) << 52);
  const double r = fma(n, -1.1595234069231498e-17, fma(n, -0.34657359027997264, a));
  const double z = r * r;
  const double t25 = fma(fma(-0.0013119374929871496, z, 0.003577320194769537), z,
      -0.008862437432804966);
  const double t29 = fma(fma(t25, z, 0.021869464794792716), z, -0.05396825358969304);
  const double t = fma(r * z, fma(fma(t29, z, 0.13333333333046746), z, -0.333333333333326),
      r);
  const double plus = power + 1.0;
  const double minus = plus - 2.0;
  const double below = fma(t, minus, plus);
  const double inverse = 1.0 / below;
  const double y = fma(t, plus, minus) * inverse;
  const double t43 = -y;
  const double rest = fma(t, fma(t43, minus, plus), fma(t43, plus, minus));
  const u64 t52 = bits_as<u64>(fma(rest, inverse, y)) | (bits_as<u64>(x) &
      0x8000000000000000ull);
  return bits_as<double>(t52);
}

}  // namespace gb

#endif
