// Powers, by a logarithm in two parts.
//
// Written by `make generate` from gpubcast/hlo/elementary/power.py; do not edit.
#ifndef GB_ELEMENTARY_POWER_CUH
#define GB_ELEMENTARY_POWER_CUH

#include "scalar.cuh"
#include "elementary/native.cuh"

namespace gb {

#ifndef GB_HAS_TABLE_f17bdb3d
#define GB_HAS_TABLE_f17bdb3d
GB_TABLE float TABLE_f17bdb3d[3][32] = {
  {0.0f, 0.04800415f, 0.081344604f, 0.09843445f,
   0.13352966f, 0.1515503f, 0.18859863f, 0.2076416f,
   0.22705078f, 0.26705933f, 0.2876892f, 0.30873108f,
   0.33024597f, 0.35221863f, 0.37469482f, 0.39768982f,
   0.42121887f, 0.43319702f, 0.45758057f, 0.47000122f,
   0.49531555f, 0.5082245f, 0.5345459f, 0.5479584f,
   0.57536316f, 0.58935547f, 0.6035309f, 0.6179199f,
   0.6325226f, 0.64733887f, 0.6623688f, 0.69314575f,
  },
  {0.0f, 5.068796e-06f, 1.0349618e-06f, 5.6245713e-06f,
   1.7295386e-06f, -3.9484155e-07f, -7.4630047e-06f, -2.2367842e-06f,
   6.669385e-06f, 3.459077e-06f, -7.1365325e-06f, 4.4025483e-06f,
   -4.284809e-06f, 1.9656597e-06f, -1.3747773e-06f, -6.8516697e-06f,
   -5.406994e-06f, -7.3653614e-06f, 5.4284095e-07f, 2.4085425e-06f,
   5.885472e-06f, 3.5476126e-07f, -3.7480543e-06f, 6.796692e-06f,
   9.857239e-07f, -5.0818717e-06f, 4.1380813e-06f, 3.8374474e-06f,
   -2.4264303e-08f, -1.2226589e-06f, 6.7474793e-06f, 1.4286068e-06f,
  },
  {1.0f, 0.953125f, 0.921875f, 0.90625f,
   0.875f, 0.859375f, 0.828125f, 0.8125f,
   0.796875f, 0.765625f, 0.75f, 0.734375f,
   0.71875f, 0.703125f, 0.6875f, 0.671875f,
   1.3125f, 1.296875f, 1.265625f, 1.25f,
   1.21875f, 1.203125f, 1.171875f, 1.15625f,
   1.125f, 1.109375f, 1.09375f, 1.078125f,
   1.0625f, 1.046875f, 1.03125f, 1.0f,
  },
};
#endif
// x ** y = e ** (y log |x|), the exponent in two parts; signs and edges are those of C.
GB_FN float pow(float x, float y) {
  GB_ENTER
  const float a = fabs(x);
  const float t3 = mantissa(a);
  const float t4 = exponent(a);
  const u32 t7 = bits_as<u32>(t3) >> 18;
  const float t10 = fma(t4, 0.69314575f, TABLE_f17bdb3d[0][t7 & 31]);
  const float t16 = fma(t3, TABLE_f17bdb3d[2][t7 & 31], -1.0f);
  const float t18 = t16 * (-0.5f);
  const float t19 = t18 * t16;
  const float t22 = t16 + t19;
  const float t25 = t16 * t16;
  const float t31 = t25 * fma(-0.40014604f, t16, fma(0.3256937f, t25, 0.5000031f));
  const float t35 = (t19 - (t22 - t16)) + fma(t19, fma(t16, -0.6666666f, t31), fma(t18, t16,
      -t19));
  const float t36 = t10 + t22;
  const float t39 = (t22 - (t36 - t10)) + fma(t4, 1.4286068e-06f, TABLE_f17bdb3d[1][t7 & 31]);
  const float low = t39 + t35;
  const float high = log_domain(a, t36);
  const float t42 = y * high;
  const float t45 = fma(y, low, fma(y, high, -t42));
  const float t48 = (t45 < 0.0625f) ? t45 : 0.0625f;
  const float power_low = (t48 > (-0.0625f)) ? t48 : (-0.0625f);
  const float t54 = (t42 < (-104.5f)) ? (-104.5f) : t42;
  const float power = (t54 > 89.0f) ? 89.0f : t54;
  const float n = fma(power + power_low, 1.442695f, 12582912.0f) - 12582912.0f;
  const float r = fma(n, -0.6931471f, power);
  const float r_low = fma(n, -5.769999e-08f, power_low);
  const float total = r + r_low;
  const float z = total * total;
  const float t77 = fma(fma(0.008368677f, z, 0.16666521f), total, fma(fma(0.0013820748f, z,
      0.041668266f), z, 0.49999994f));
  const float near = r + fma(z, t77, r_low);
  const float size = ((y == 0.0f) | (a == 1.0f)) ? 1.0f : scaled(near + 1.0f, n);
  const float half = y * 0.5f;
  const bool whole = trunc(y) == y;
  const bool even = trunc(half) == half;
  const u32 t102 = (whole & (even ^ true)) ? (bits_as<u32>(x) & 0x80000000u) : 0x0u;
  const float value = bits_as<float>(bits_as<u32>(size) | t102);
  const bool t110 = ((x < 0.0f) & (high < bits_as<float>(0x7f800000u))) & (whole ^ true);
  return t110 ? bits_as<float>(0x7fc00000u) : value;
}

#ifndef GB_HAS_TABLE_c5e8a4d6
#define GB_HAS_TABLE_c5e8a4d6
GB_TABLE double TABLE_c5e8a4d6[1][16] = {
  {0.0, 0.09844017028808594, 0.1335315704345703, 0.20763921737670898,
   0.24686002731323242, 0.28768205642700195, 0.33024168014526367, 0.3746933937072754,
   0.42121362686157227, 0.470003604888916, 0.49532127380371094, 0.5479650497436523,
   0.5753641128540039, 0.6035351753234863, 0.6325225830078125, 0.6931471824645996,
  },
};
#endif
#ifndef GB_HAS_TABLE_9dcbe372
#define GB_HAS_TABLE_9dcbe372
GB_TABLE double TABLE_9dcbe372[1][16] = {
  {0.0, -9.747483341759711e-08, -1.7781004768935365e-07, 1.4740153551724045e-07,
   5.061829337600964e-08, 1.6024778974314217e-08, 6.7253131844044075e-09, 5.5734135302981986e-08,
   -1.6178526871503944e-07, 2.4356819538025937e-08, 1.6342631449155466e-07, 1.209717950683853e-07,
   3.2049557948628435e-08, -1.5345322815132773e-07, -2.4264302033163373e-08, -1.904654299957768e-09,
  },
};
#endif
#ifndef GB_HAS_TABLE_1ff56ad5
#define GB_HAS_TABLE_1ff56ad5
GB_TABLE double TABLE_1ff56ad5[1][16] = {
  {1.0, 0.90625, 0.875, 0.8125,
   0.78125, 0.75, 0.71875, 0.6875,
   1.3125, 1.25, 1.21875, 1.15625,
   1.125, 1.09375, 1.0625, 1.0,
  },
};
#endif
// x ** y = e ** (y log |x|), the exponent in two parts; signs and edges are those of C.
GB_FN double pow(double x, double y) {
  GB_ENTER
  const double a = fabs(x);
  const double t3 = mantissa(a);
  const double t4 = exponent(a);
  const u64 t7 = bits_as<u64>(t3) >> 48;
  const double t10 = fma(t4, 0.6931471824645996, TABLE_c5e8a4d6[0][t7 & 15]);
  const double t16 = fma(t3, TABLE_1ff56ad5[0][t7 & 15], -1.0);
  const double t18 = t16 * (-0.5);
  const double t19 = t18 * t16;
  const double t22 = t16 + t19;
  const double t25 = t16 * t16;
  const double t30 = fma(fma(-0.1814779823094625, t25, -0.2222247008211726), t25,
      -0.28571428210916694);
  const double t34 = fma(fma(t30, t25, -0.40000000000192387), t25, -0.04166666666666635);
  const double t39 = fma(fma(0.1461567645757157, t25, 0.20006693002284984), t25,
      0.24999992698673618);
  const double t43 = fma(fma(t39, t25, 0.33333333336399995), t25, 0.4999999999999959);
  const double t47 = fma(t16, -0.625, t16 * fma(t43, t16, t34));
  const double t48 = t19 * t47;
  const double t49 = t22 + t48;
  const double t56 = ((t19 - (t22 - t16)) + (t48 - (t49 - t22))) + (fma(t18, t16, -t19) +
      fma(t19, t47, -t48));
  const double t57 = t10 + t49;
  const double t60 = (t49 - (t57 - t10)) + fma(t4, -1.904654299957768e-09,
      TABLE_9dcbe372[0][t7 & 15]);
  const double low = t60 + t56;
  const double high = log_domain(a, t57);
  const double t63 = y * high;
  const double t66 = fma(y, low, fma(y, high, -t63));
  const double t69 = (t66 < 0.0625) ? t66 : 0.0625;
  const double power_low = (t69 > (-0.0625)) ? t69 : (-0.0625);
  const double t75 = (t63 < (-746.0)) ? (-746.0) : t63;
  const double power = (t75 > 710.0) ? 710.0 : t75;
  const double n = fma(power, 1.4426950408889634, 6755399441055744.0) - 6755399441055744.0;
  const double r = fma(n, -0.6931471805599453, power);
  const double r_low = fma(n, -2.3190468138462996e-17, power_low);
  const double total = r + r_low;
  const double z = total * total;
  const double t93 = fma(fma(2.7630483934343876e-07, z, 2.4801492390655727e-05), z,
      0.0013888888944381223);
  const double t102 = fma(fma(2.500961773811377e-08, z, 2.755755553229745e-06), z,
      0.00019841269542138592);
  const double t106 = fma(fma(t102, z, 0.008333333333477345), z, 0.1666666666666644);
  const double t107 = fma(t106, total, fma(fma(t93, z, 0.041666666666526894), z,
      0.5000000000000011));
  const double near = r + fma(z, t107, r_low);
  const double size = ((y == 0.0) | (a == 1.0)) ? 1.0 : scaled(near + 1.0, n);
  const double half = y * 0.5;
  const bool whole = trunc(y) == y;
  const bool even = trunc(half) == half;
  const u64 t132 = (whole & (even ^ true)) ? (bits_as<u64>(x) & 0x8000000000000000ull) :
      0x0ull;
  const double value = bits_as<double>(bits_as<u64>(size) | t132);
  const bool t140 = ((x < 0.0) & (high < bits_as<double>(0x7ff0000000000000ull))) & (whole ^
      true);
  return t140 ? bits_as<double>(0x7ff8000000000000ull) : value;
}

}  // namespace gb

#endif
