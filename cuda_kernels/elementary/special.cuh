// Roots, and the error functions.
//
// Written by `make generate` from gpubcast/hlo/elementary/special.py; do not edit.
#ifndef GB_ELEMENTARY_SPECIAL_CUH
#define GB_ELEMENTARY_SPECIAL_CUH

#include "scalar.cuh"
#include "elementary/logarithm.cuh"

namespace gb {

// y, x^(-1/2), where x is positive and finite, which is where abs(rest) < 1/2; and the inverse
// root elsewhere. x is no denormal number.
GB_FN float root_domain(float x, float y, float rest) {
  GB_ENTER
  const u32 edge = bits_as<u32>(x) ^ 0x7f800000u;
  const float t14 = (fabs(rest) < 0.5f) ? y : bits_as<float>((x >= 0.0f) ? edge :
      0xffffffffu);
  return t14;
}

// y, x^(-1/2), where x is positive and finite, which is where abs(rest) < 1/2; and the inverse
// root elsewhere. x is no denormal number.
GB_FN double root_domain(double x, double y, double rest) {
  GB_ENTER
  const u64 edge = bits_as<u64>(x) ^ 0x7ff0000000000000ull;
  const double t14 = (fabs(rest) < 0.5) ? y : bits_as<double>((x >= 0.0) ? edge :
      0xffffffffffffffffull);
  return t14;
}

// 1 / sqrt(x): from a guess made of the bits, rounded to half of its bits, a polynomial in what
// 1 - x y y leaves, which is rounded once.
GB_FN float rsqrt(float x) {
  GB_ENTER
  const bool small = x < 1.1754944e-38f;
  const float a = x * (small ? 16777216.0f : 1.0f);
  const float t12 = bits_as<float>(0x5f0b4c00u - (bits_as<u32>(a) >> 1));
  const u32 root = bits_as<u32>(t12 * fma(-(a * t12), t12, 1.8914f)) & 0xffffe000u;
  const float t22 = bits_as<float>(root);
  const float rest = fma(-a, t22 * t22, 1.0f);
  const u32 back = small ? 0x6000000u : 0x0u;
  const float t29 = bits_as<float>(root + back);
  const float y = fma(t29 * rest, fma(0.37500042f, rest, 0.5000015f), t29);
  return root_domain(a, y, rest);
}

// 1 / sqrt(x): from a guess made of the bits, rounded to half of its bits, a polynomial in what
// 1 - x y y leaves, which is rounded once.
GB_FN double rsqrt(double x) {
  GB_ENTER
  const bool small = x < 2.2250738585072014e-308;
  const double a = x * (small ? 4503599627370496.0 : 1.0);
  const double t12 = bits_as<double>(0x5fe1679d00000000ull - (bits_as<u64>(a) >> 1));
  const u64 root = bits_as<u64>(t12 * fma(-(a * t12), t12, 1.891)) & 0xfffffffff0000000ull;
  const double t22 = bits_as<double>(root);
  const double rest = fma(-a, t22 * t22, 1.0);
  const u64 back = small ? 0x1a0000000000000ull : 0x0ull;
  const double t29 = bits_as<double>(root + back);
  const double t35 = fma(fma(0.24609457888344785, rest, 0.2734383914289734), rest,
      0.31249999999934314);
  const double y = fma(t29 * rest, fma(fma(t35, rest, 0.3749999999992955), rest, 0.5), t29);
  return root_domain(a, y, rest);
}

// The cube root: Newton's method for x^(-1/3) from a guess made of the bits.
GB_FN float cbrt(float x) {
  GB_ENTER
  const float magnitude = fabs(x);
  const bool small = magnitude < 8.271806e-25f;
  const float a = small ? (magnitude * 4.7223665e+21f) : magnitude;
  const u32 word = bits_as<u32>(a);
  const u32 guess = 0x54a1f800u - __umulhi(word, 0x55555556u);
  const float t12 = bits_as<float>(guess);
  const float h = fma(-(a * t12), t12 * t12, 1.0f);
  const float y = fma(t12 * h, fma(fma(0.17462727f, h, 0.22347406f), h, 0.3333279f), t12);
  const float square = y * y;
  const float t26 = a * square;
  const float t_square = t26 * t26;
  const float low = fma(t26, t26, -t_square);
  const float t35 = fma(fma(low, t26, fma(t_square, t26, -a)), square * (-0.33333334f), t26);
  const u32 t43 = bits_as<u32>(small ? (t35 * 5.9604645e-08f) : t35) | (bits_as<u32>(x) &
      0x80000000u);
  const float t = bits_as<float>(t43);
  const float t50 = (magnitude > 0.0f) ? ((magnitude < bits_as<float>(0x7f800000u)) ? t : x)
      : x;
  return t50;
}

// The cube root: Newton's method for x^(-1/3) from a guess made of the bits.
GB_FN double cbrt(double x) {
  GB_ENTER
  const double magnitude = fabs(x);
  const bool small = magnitude < 1.499696813895631e-241;
  const double a = small ? (magnitude * 4.9732323640978664e+86) : magnitude;
  const u32 word = static_cast<u32>(bits_as<u64>(a) >> 32);
  const u32 guess = 0x553eea00u - __umulhi(word, 0x55555556u);
  const double t17 = bits_as<double>(static_cast<u64>(guess) << 32);
  const double t22 = fma(-(a * t17), t17 * t17, 1.0);
  const double t29 = fma(t17 * t22, fma(fma(0.174627274, t22, 0.223474056), t22,
      0.333327889), t17);
  const double h = fma(-(a * t29), t29 * t29, 1.0);
  const double y = fma(t29 * h, fma(h, 0.2222222222222222, 0.3333333333333333), t29);
  const double square = y * y;
  const double t40 = a * square;
  const double t_square = t40 * t40;
  const double low = fma(t40, t40, -t_square);
  const double t49 = fma(fma(low, t40, fma(t_square, t40, -a)), square *
      (-0.3333333333333333), t40);
  const u64 t57 = bits_as<u64>(small ? (t49 * 1.262177448353619e-29) : t49) |
      (bits_as<u64>(x) & 0x8000000000000000ull);
  const double t = bits_as<double>(t57);
  const double t64 = (magnitude > 0.0) ? ((magnitude <
      bits_as<double>(0x7ff0000000000000ull)) ? t : x) : x;
  return t64;
}

// The root of the sum of squares, corrected by what rounding left of both (Borges 2019).
GB_FN float hypot(float x, float y) {
  GB_ENTER
  const float a = fabs(x);
  const float b = fabs(y);
  const bool t4 = a < b;
  const float large = t4 ? b : a;
  const float small = t4 ? a : b;
  const bool above = large > 4.611686e+18f;
  const bool below = large < 8.881784e-16f;
  const float factor = above ? 8.077936e-28f : (below ? 1.23794004e+27f : 1.0f);
  const float u = large * factor;
  const float v = small * factor;
  const float square = u * u;
  const float square_low = fma(u, u, -square);
  const float other = v * v;
  const float other_low = fma(v, v, -other);
  const float total = square + other;
  const float total_low = other - (total - square);
  const float root = sqrt(total);
  const float t28 = -root;
  const float lost = fma(t28, root, total) + (total_low + (square_low + other_low));
  const float t36 = bits_as<float>(0x7ef311c7u - bits_as<u32>(root));
  const float result = fma(lost, (t36 * fma(t28, t36, 2.0f)) * 0.5f, root) * (above ?
      1.23794004e+27f : (below ? 8.077936e-28f : 1.0f));
  const bool t49 = (a == bits_as<float>(0x7f800000u)) | (b == bits_as<float>(0x7f800000u));
  return t49 ? bits_as<float>(0x7f800000u) : result;
}

// The root of the sum of squares, corrected by what rounding left of both (Borges 2019).
GB_FN double hypot(double x, double y) {
  GB_ENTER
  const double a = fabs(x);
  const double b = fabs(y);
  const bool t4 = a < b;
  const double large = t4 ? b : a;
  const double small = t4 ? a : b;
  const bool above = large > 6.703903964971299e+153;
  const bool below = large < 6.717876107567089e-139;
  const double factor = above ? 2.409919865102884e-181 : (below ? 4.149515568880993e+180 :
      1.0);
  const double u = large * factor;
  const double v = small * factor;
  const double square = u * u;
  const double square_low = fma(u, u, -square);
  const double other = v * v;
  const double other_low = fma(v, v, -other);
  const double total = square + other;
  const double total_low = other - (total - square);
  const double root = sqrt(total);
  const double t28 = -root;
  const double lost = fma(t28, root, total) + (total_low + (square_low + other_low));
  const double t36 = bits_as<double>(0x7fde623822fc16e6ull - bits_as<u64>(root));
  const double t44 = above ? 4.149515568880993e+180 : (below ? 2.409919865102884e-181 : 1.0);
  const double result = fma(lost, (t36 * fma(t28, t36, 2.0)) * 0.5, root) * t44;
  const bool t49 = (a == bits_as<double>(0x7ff0000000000000ull)) | (b ==
      bits_as<double>(0x7ff0000000000000ull));
  return t49 ? bits_as<double>(0x7ff0000000000000ull) : result;
}

#ifndef GB_HAS_TABLE_a4a2d584
#define GB_HAS_TABLE_a4a2d584
GB_TABLE float TABLE_a4a2d584[8][8] = {
  {3.5670347f, 0.22f, 0.6637036f, 1.1096295f,
   1.5592593f, 2.0037036f, 2.4407408f, 2.8903704f,
  },
  {-8.110082e-05f, -0.019674566f, 0.010590004f, 0.015656272f,
   0.01929343f, 0.0007046815f, -0.0033473014f, -0.0012347474f,
  },
  {7.96806e-05f, -0.03175534f, -0.043800026f, -0.06954648f,
   -0.009949007f, 0.01441441f, 0.008071066f, 0.001858626f,
  },
  {-4.699427e-05f, 0.09414913f, -0.0070490227f, 0.036851108f,
   -0.05402987f, -0.03848996f, -0.011907834f, -0.0019731838f,
  },
  {2.9170302e-05f, 0.09370664f, 0.17491697f, 0.18063529f,
   0.14371666f, 0.05368663f, 0.011947748f, 0.001563648f,
  },
  {-1.3672397e-05f, -0.34428573f, -0.1449147f, -0.4111959f,
   -0.17403239f, -0.045900993f, -0.008015805f, -0.00086368114f,
  },
  {3.8224393e-06f, -0.16077155f, -0.38590202f, 0.37057042f,
   0.111612216f, 0.0229081f, 0.0032841405f, 0.00029882242f,
  },
  {0.12499971f, 0.11043596f, -0.017523166f, -0.0061624036f,
   0.09412427f, 0.11982324f, 0.124373585f, 0.124951184f,
  },
};
#endif
// The error function. F32: by a polynomial for each of eight intervals. F64: x + x P(x^2) near
// 0, then 1 - e^Q(x).
GB_FN float erf(float x) {
  GB_ENTER
  const float t3 = at_most(fabs(x), 3.99f);
  const u32 t9 = bits_as<u32>(fma(t3, 1.125f, 4.5f)) >> 20;
  const float t11 = t3 - TABLE_a4a2d584[0][t9 & 7];
  const float t14 = fma(TABLE_a4a2d584[1][t9 & 7], t11, TABLE_a4a2d584[2][t9 & 7]);
  const float t18 = fma(fma(t14, t11, TABLE_a4a2d584[3][t9 & 7]), t11, TABLE_a4a2d584[4][t9 &
      7]);
  const float t22 = fma(fma(t18, t11, TABLE_a4a2d584[5][t9 & 7]), t11, TABLE_a4a2d584[6][t9 &
      7]);
  const float t28 = at_most(at_least(x, -0.8888887f), 0.8888887f);
  return fma(fma(t22, t11, TABLE_a4a2d584[7][t9 & 7]), t28, t28);
}

// The error function. F32: by a polynomial for each of eight intervals. F64: x + x P(x^2) near
// 0, then 1 - e^Q(x).
GB_FN double erf(double x) {
  GB_ENTER
  const double magnitude = fabs(x);
  const double a = (magnitude > 6.0) ? 6.0 : magnitude;
  const double t5 = x * x;
  const double t6 = t5 * t5;
  const double t11 = fma(fma(-8.214349872766105e-10, t6, -1.6252528838776882e-07), t6,
      -1.4925132060444454e-05);
  const double t15 = fma(fma(t11, t6, -0.0008548326554644308), t6, -0.026866170644461267);
  const double t20 = fma(fma(1.3926751567383994e-08, t6, 1.6452722766797725e-06), t6,
      0.00012055313804106508);
  const double t25 = fma(fma(fma(t20, t6, 0.0052239776181558055), t5, t15), t5,
      0.11283791670951934);
  const double t29 = fma(fma(t25, t5, -0.3761263890318369), t5, 0.12837916709551256);
  const double near = fma(x, t29, x);
  const double t31 = a * a;
  const double t36 = fma(fma(-1.2447062768093987e-12, t31, -1.1834977353258974e-09), t31,
      -1.414523334576374e-07);
  const double t40 = fma(fma(t36, t31, -4.7767961569477585e-06), t31, -4.974575670878118e-05);
  const double t44 = fma(fma(t40, t31, 2.5091326000914107e-05), t31, 0.0017358844114532994);
  const double t48 = fma(fma(t44, t31, -0.01909856099278017), t31, 0.6366248808691735);
  const double t55 = fma(fma(5.609263768051632e-11, t31, 1.552030164779662e-08), t31,
      9.469433797498858e-07);
  const double t59 = fma(fma(t55, t31, 1.8150661606428582e-05), t31, 8.115394014173227e-05);
  const double t63 = fma(fma(t59, t31, -0.0006124257279866062), t31, -0.00025072928057836874);
  const double t67 = fma(fma(t63, t31, 0.10275755537769207), t31, 1.1283781114075848);
  const double t69 = -fma(t67, a, fma(t48, t31, 1.0061110827281125e-07));
  const double t72 = fma(t69, 1.4426950408889634, 6755399441056767.0);
  const double t73 = t72 - 6755399441056767.0;
  const double scale = bits_as<double>(bits_as<u64>(t72) << 52);
  const double r = fma(t73, -2.3190468138462996e-17, fma(t73, -0.6931471805599453, t69));
  const double square = r * r;
  const double t87 = fma(fma(2.7630483934343876e-07, square, 2.4801492390655727e-05), square,
      0.0013888888944381223);
  const double t91 = fma(fma(t87, square, 0.041666666666526894), square, 0.5000000000000011);
  const double t96 = fma(fma(2.500961773811377e-08, square, 2.755755553229745e-06), square,
      0.00019841269542138592);
  const double t100 = fma(fma(t96, square, 0.008333333333477345), square, 0.1666666666666644);
  const double e = fma(square, fma(t100, r, t91), r);
  const u64 t111 = bits_as<u64>((1.0 - scale) - (e * scale)) | (bits_as<u64>(x) &
      0x8000000000000000ull);
  const double far = bits_as<double>(t111);
  return (magnitude < 0.9375) ? near : far;
}

// 1 - erf(x): e^(-x^2) times a rational function, each rounding made good; for a negative x it
// is 2 - erfc(-x).
GB_FN float erfc(float x) {
  GB_ENTER
  const float magnitude = fabs(x);
  const float a = (magnitude > 10.5f) ? 10.5f : magnitude;
  const float above = a + 2.5473633f;
  const float below = fma(a, 1.402624f, 1.25f);
  const float shared = 1.0f / (above * below);
  const float t13 = shared * below;
  const float t14 = a - 2.5473633f;
  const float t15 = t14 * t13;
  const float q = fma(fma(-t15, above, t14), t13, t15);
  const float t19 = shared * above;
  const float below_low = fma(a, 1.402624f, 1.25f - below);
  const float t22 = -t19;
  const float lost = fma(t22, below_low, fma(t22, below, 1.0f));
  const float square = a * a;
  const float t26 = -square;
  const float square_low = fma(a, a, t26);
  const float t30 = fma(square, -1.442695f, 12583103.0f);
  const float n = t30 - 12583103.0f;
  const float power = bits_as<float>(bits_as<u32>(t30) << 23);
  const float r = fma(n, -0.69314575f, t26) + fma(n, -1.4286068e-06f, -square_low);
  const float z = r * r;
  const float t51 = fma(fma(0.008368677f, z, 0.16666521f), r, fma(fma(0.0013820748f, z,
      0.041668266f), z, 0.49999994f));
  const float e = fma(z, t51, r);
  const float inverse = t19 * power;
  const float t54 = fma(inverse, e, inverse);
  const float y_low = fma(t54, lost, fma(inverse, e, inverse - t54));
  const float t58 = q * q;
  const float t59 = t58 * t58;
  const float t64 = fma(fma(0.00032154718f, t59, 0.022607274f), t59, -0.28845274f);
  const float t75 = fma(fma(0.0005691756f, t59, -0.050428633f), t58, fma(-0.0019508303f, t59,
      0.0725139f));
  const float t76 = fma(t75, q, fma(fma(-0.0024989923f, t59, 0.038726535f), t58, t64));
  const float p = q * t76;
  const float y = (t54 + fma(p, t54, y_low)) * 5.421011e-20f;
  return ((bits_as<u32>(x) & 0x80000000u) != 0x0u) ? (2.0f - y) : y;
}

// 1 - erf(x): e^(-x^2) times a rational function, each rounding made good; for a negative x it
// is 2 - erfc(-x).
GB_FN double erfc(double x) {
  GB_ENTER
  const double magnitude = fabs(x);
  const double a = (magnitude > 28.0) ? 28.0 : magnitude;
  const double above = a + 3.62841796875;
  const double below = fma(a, 1.4736955054457037, 1.3125);
  const double shared = 1.0 / (above * below);
  const double t13 = shared * below;
  const double t14 = a - 3.62841796875;
  const double t15 = t14 * t13;
  const double q = fma(fma(-t15, above, t14), t13, t15);
  const double t19 = shared * above;
  const double below_low = fma(a, 1.4736955054457037, 1.3125 - below);
  const double t22 = -t19;
  const double lost = fma(t22, below_low, fma(t22, below, 1.0));
  const double square = a * a;
  const double t26 = -square;
  const double square_low = fma(a, a, t26);
  const double t30 = fma(square, -1.4426950408889634, 6755399441056895.0);
  const double n = t30 - 6755399441056895.0;
  const double power = bits_as<double>(bits_as<u64>(t30) << 52);
  const double r = fma(n, -0.6931471805598903, t26) + fma(n, -5.497923018708371e-14,
      -square_low);
  const double z = r * r;
  const double t47 = fma(fma(2.7630483934343876e-07, z, 2.4801492390655727e-05), z,
      0.0013888888944381223);
  const double t56 = fma(fma(2.500961773811377e-08, z, 2.755755553229745e-06), z,
      0.00019841269542138592);
  const double t61 = fma(fma(fma(t56, z, 0.008333333333477345), z, 0.1666666666666644), r,
      fma(fma(t47, z, 0.041666666666526894), z, 0.5000000000000011));
  const double e = fma(z, t61, r);
  const double inverse = t19 * power;
  const double t64 = fma(inverse, e, inverse);
  const double y_low = fma(t64, lost, fma(inverse, e, inverse - t64));
  const double t68 = q * q;
  const double t69 = t68 * t68;
  const double t74 = fma(fma(5.411946616627876e-09, t69, 2.502813939324158e-07), t69,
      1.877678206992783e-05);
  const double t78 = fma(fma(t74, t69, 0.0005402660037279285), t69, 0.037763752252889575);
  const double t85 = fma(fma(-3.834286741615323e-08, t69, -2.055682244764165e-06), t69,
      -0.00015433332600960997);
  const double t89 = fma(fma(t85, t69, 0.014029061587303082), t69, -0.027662277776362272);
  const double t95 = fma(fma(-1.35382335706825e-07, t69, -4.146731345380004e-06), t69,
      0.00029265350759388883);
  const double t99 = fma(fma(t95, t69, -0.028031218311706633), t69, 0.1299250262794535);
  const double t104 = fma(fma(1.5029147462775546e-08, t69, 8.37592901312231e-07), t69,
      5.20386515188241e-06);
  const double t108 = fma(fma(t104, t69, -0.004534065316345829), t69, -0.025682343753554656);
  const double t110 = fma(fma(t108, t68, t99), q, fma(t89, t68, fma(t78, t69,
      -0.2650615804128872)));
  const double p = q * t110;
  const double y = (t64 + fma(p, t64, y_low)) * 2.938735877055719e-39;
  const double t123 = ((bits_as<u64>(x) & 0x8000000000000000ull) != 0x0ull) ? (2.0 - y) : y;
  return t123;
}

#ifndef GB_HAS_TABLE_481cc6e9
#define GB_HAS_TABLE_481cc6e9
GB_TABLE float TABLE_481cc6e9[2][8] = {
  {1.0f, 0.84178895f, 0.7591249f, 0.6970162f,
   1.2806208f, 1.195365f, 1.0909028f, 1.0f,
  },
  {0.0f, 0.17222595f, 0.275589f, 0.36094666f,
   -0.24734497f, -0.17845154f, -0.087005615f, 0.0f,
  },
};
#endif
#ifndef GB_HAS_TABLE_524394f5
#define GB_HAS_TABLE_524394f5
GB_TABLE float TABLE_524394f5[7][8] = {
  {3.9783418f, 6.104906f, 8.233036f, 10.358551f,
   13.274859f, 0.39415008f, 1.4577309f, 2.5212727f,
  },
  {1.85383f, 2.3073044f, 2.7022648f, 3.0521955f,
   3.4800727f, 0.97932374f, 1.241483f, 1.5066541f,
  },
  {0.22866736f, 0.1983434f, 0.17404066f, 0.1561159f,
   0.13835621f, 0.24000405f, 0.25027677f, 0.24646084f,
  },
  {-0.007207425f, -0.0065655503f, -0.004886732f, -0.0036292432f,
   -0.0025583985f, 0.008697904f, 0.0011469864f, -0.0042566555f,
  },
  {-0.00021533381f, 0.0002601858f, 0.00023688895f, 0.00015987422f,
   9.243195e-05f, -0.0024626537f, -0.0021209759f, -0.0012336337f,
  },
  {0.000120690594f, 1.1941955e-05f, -9.258368e-06f, -7.843413e-06f,
   -4.075397e-06f, -3.3688462e-05f, 0.00017185045f, 0.00021716619f,
  },
  {-1.4333544e-05f, -3.87697e-06f, -1.2690488e-07f, 3.052529e-07f,
   1.649041e-07f, 4.6501384e-05f, 2.0228126e-05f, -7.748765e-06f,
  },
};
#endif
// The inverse of erf: x P(w), where w = -ln(1 - x^2), by a polynomial for each of eight (F64:
// four) intervals of w.
GB_FN float erf_inv(float x) {
  GB_ENTER
  const float t3 = fma(-x, x, 1.0f);
  const float t4 = normal_mantissa(t3);
  const float t5 = normal_exponent(t3);
  const u32 t8 = bits_as<u32>(t4) >> 20;
  const float t12 = fma(t4, TABLE_481cc6e9[0][t8 & 7], -1.0f);
  const float t14 = fma(t5, 0.69314575f, TABLE_481cc6e9[1][t8 & 7]);
  const float t15 = t14 + t12;
  const float t27 = fma(fma(fma(-0.14431211f, t12, 0.20001717f), t12, -0.25012267f), t12,
      0.33333486f);
  const float t30 = fma(t12 * t12, fma(t27, t12, -0.49999985f), fma(t5, 1.4286068e-06f, t12 -
      (t15 - t14)));
  const float w = -(t15 + t30);
  const float place = fma(w, 0.23510972f, 1.25f);
  const u32 index = bits_as<u32>(place) >> 21;
  const float centre = TABLE_524394f5[0][index & 7];
  const float first = TABLE_524394f5[1][index & 7];
  const float distance = w - centre;
  const float t47 = fma(TABLE_524394f5[6][index & 7], distance, TABLE_524394f5[5][index & 7]);
  const float t49 = fma(fma(t47, distance, TABLE_524394f5[4][index & 7]), distance,
      TABLE_524394f5[3][index & 7]);
  const float t51 = fma(fma(t49, distance, TABLE_524394f5[2][index & 7]), distance, first);
  const float y = x * t51;
  const float magnitude = fabs(x);
  const float t59 = (magnitude == 1.0f) ? (x * bits_as<float>(0x7f800000u)) :
      bits_as<float>(0x7fc00000u);
  return (magnitude < 1.0f) ? y : t59;
}

#ifndef GB_HAS_TABLE_5c1a66cd
#define GB_HAS_TABLE_5c1a66cd
GB_TABLE double TABLE_5c1a66cd[1][8] = {
  {1.0, 0.8421052428592407, 0.7619047556301802, 0.6956521766277668,
   1.2799999905081907, 1.185185210133655, 1.103448248483607, 1.0,
  },
};
#endif
#ifndef GB_HAS_TABLE_df6d9be0
#define GB_HAS_TABLE_df6d9be0
GB_TABLE double TABLE_df6d9be0[1][8] = {
  {0.0, 0.17185028103131117, 0.27193372371903024, 0.3629054897869537,
   -0.24686007051604975, -0.16989905784566872, -0.09844004800152106, 0.0,
  },
};
#endif
#ifndef GB_HAS_TABLE_9c5dd972
#define GB_HAS_TABLE_9c5dd972
GB_TABLE double TABLE_9c5dd972[1][4] = {
  {4.636506851848402, 11.677005687701698, 25.758016471918058, 1.1162529465097109,
  },
};
#endif
#ifndef GB_HAS_TABLE_7cdd4008
#define GB_HAS_TABLE_7cdd4008
GB_TABLE double TABLE_7cdd4008[1][4] = {
  {2.001168218301169, 3.2520624201015482, 4.925916096276727, 1.1562394278676413,
  },
};
#endif
#ifndef GB_HAS_TABLE_27f35632
#define GB_HAS_TABLE_27f35632
GB_TABLE double TABLE_27f35632[1][4] = {
  {0.21902453069187608, 0.14731235792046268, 0.09952996714083498, 0.24872550066523588,
  },
};
#endif
#ifndef GB_HAS_TABLE_63f1d4b5
#define GB_HAS_TABLE_63f1d4b5
GB_TABLE double TABLE_63f1d4b5[1][4] = {
  {-0.0073600571732470735, -0.0030717113902622973, -0.0009678027910640166, 0.003430636183345977,
  },
};
#endif
#ifndef GB_HAS_TABLE_4a0f6e72
#define GB_HAS_TABLE_4a0f6e72
GB_TABLE double TABLE_4a0f6e72[1][4] = {
  {3.9179372645626235e-05, 0.00012376729397868002, 1.8601668994745062e-05, -0.0023247870796311303,
  },
};
#endif
#ifndef GB_HAS_TABLE_3d0c2afe
#define GB_HAS_TABLE_3d0c2afe
GB_TABLE double TABLE_3d0c2afe[1][4] = {
  {7.37001433758549e-05, -5.888666750336402e-06, -4.4396341468641264e-07, 0.00012143092250161863,
  },
};
#endif
#ifndef GB_HAS_TABLE_c9ee16c7
#define GB_HAS_TABLE_c9ee16c7
GB_TABLE double TABLE_c9ee16c7[1][4] = {
  {-1.2587983418750354e-05, 2.718011807001845e-07, 1.1814306579957302e-08, 3.5070044177492225e-05,
  },
};
#endif
#ifndef GB_HAS_TABLE_c19820ed
#define GB_HAS_TABLE_c19820ed
GB_TABLE double TABLE_c19820ed[1][4] = {
  {9.439450389123927e-07, -8.45799431685786e-09, -3.3571710877516787e-10, -4.688581546787845e-06,
  },
};
#endif
#ifndef GB_HAS_TABLE_bbfd79f9
#define GB_HAS_TABLE_bbfd79f9
GB_TABLE double TABLE_bbfd79f9[1][4] = {
  {3.955130430243731e-08, -3.2645638667689885e-10, 9.966556343878551e-12, -4.490967291830518e-07,
  },
};
#endif
#ifndef GB_HAS_TABLE_d83ffcef
#define GB_HAS_TABLE_d83ffcef
GB_TABLE double TABLE_d83ffcef[1][4] = {
  {-2.012489741236502e-08, 9.79107588518949e-11, -3.0514842337512815e-13, 1.2680790429139088e-07,
  },
};
#endif
#ifndef GB_HAS_TABLE_34972b99
#define GB_HAS_TABLE_34972b99
GB_TABLE double TABLE_34972b99[1][4] = {
  {2.4277807230543296e-09, -1.196065250940332e-11, 9.548577407630197e-15, 2.559582779627868e-09,
  },
};
#endif
#ifndef GB_HAS_TABLE_4b491270
#define GB_HAS_TABLE_4b491270
GB_TABLE double TABLE_4b491270[1][4] = {
  {-5.775894507654745e-11, 1.0812184286361396e-12, -3.0284337083342473e-16, -2.9446000317575614e-09,
  },
};
#endif
#ifndef GB_HAS_TABLE_d4922b66
#define GB_HAS_TABLE_d4922b66
GB_TABLE double TABLE_d4922b66[1][4] = {
  {-2.827145992106658e-11, -7.737459547906485e-14, 9.630719366333063e-18, 1.0620629345727497e-10,
  },
};
#endif
#ifndef GB_HAS_TABLE_6f8db553
#define GB_HAS_TABLE_6f8db553
GB_TABLE double TABLE_6f8db553[1][4] = {
  {5.0728577024506116e-12, 4.152378319698437e-15, -3.0184046381576025e-19, 6.039734640788593e-11,
  },
};
#endif
#ifndef GB_HAS_TABLE_70f78f20
#define GB_HAS_TABLE_70f78f20
GB_TABLE double TABLE_70f78f20[1][4] = {
  {-3.198801565208932e-13, -1.112497970749154e-16, 9.072326895769673e-21, -5.7129782332509674e-12,
  },
};
#endif
#ifndef GB_HAS_TABLE_fa7fafb7
#define GB_HAS_TABLE_fa7fafb7
GB_TABLE double TABLE_fa7fafb7[1][4] = {
  {-3.03851916041574e-14, -8.581544324881135e-18, -2.4399916163947127e-22, -1.0645331407700852e-12,
  },
};
#endif
#ifndef GB_HAS_TABLE_c9ef8265
#define GB_HAS_TABLE_c9ef8265
GB_TABLE double TABLE_c9ef8265[1][4] = {
  {9.45655902101498e-15, 1.7003688756001554e-18, 3.968806538213713e-24, 1.8877466218057508e-13,
  },
};
#endif
#ifndef GB_HAS_TABLE_ef022878
#define GB_HAS_TABLE_ef022878
GB_TABLE double TABLE_ef022878[1][4] = {
  {-9.379670392518688e-16, -1.718368450147522e-19, 1.0191499833890858e-25, 1.4236014861569075e-14,
  },
};
#endif
#ifndef GB_HAS_TABLE_07a6b894
#define GB_HAS_TABLE_07a6b894
GB_TABLE double TABLE_07a6b894[1][4] = {
  {-1.0982263693184847e-17, 1.4112630985771674e-20, -7.326180237288495e-27, -5.121908305554499e-15,
  },
};
#endif
#ifndef GB_HAS_TABLE_429c9bcd
#define GB_HAS_TABLE_429c9bcd
GB_TABLE double TABLE_429c9bcd[1][4] = {
  {1.6741520074084657e-17, -9.597671983149371e-22, 3.0544043292266117e-28, -5.496152078186605e-17,
  },
};
#endif
#ifndef GB_HAS_TABLE_8500936d
#define GB_HAS_TABLE_8500936d
GB_TABLE double TABLE_8500936d[1][4] = {
  {-1.952952037495394e-18, 2.0388431797923722e-23, -6.209235148421428e-29, 1.179386181677954e-16,
  },
};
#endif
#ifndef GB_HAS_TABLE_15c2e100
#define GB_HAS_TABLE_15c2e100
GB_TABLE double TABLE_15c2e100[1][4] = {
  {-2.1700416963705076e-20, 4.079428471380798e-24, 5.195500163888486e-30, -3.9821882491221074e-18,
  },
};
#endif
#ifndef GB_HAS_TABLE_35d91b16
#define GB_HAS_TABLE_35d91b16
GB_TABLE double TABLE_35d91b16[1][4] = {
  {1.6236248926804614e-20, -2.889512085888804e-25, -1.3640014785287175e-31, -1.767979070543143e-18,
  },
};
#endif
// The inverse of erf: x P(w), where w = -ln(1 - x^2), by a polynomial for each of eight (F64:
// four) intervals of w.
GB_FN double erf_inv(double x) {
  GB_ENTER
  const double t3 = fma(-x, x, 1.0);
  const double t4 = normal_mantissa(t3);
  const double t5 = normal_exponent(t3);
  const u64 t8 = bits_as<u64>(t4) >> 49;
  const double t12 = fma(t4, TABLE_5c1a66cd[0][t8 & 7], -1.0);
  const double t14 = fma(t5, 0.6931471805601177, TABLE_df6d9be0[0][t8 & 7]);
  const double t15 = t14 + t12;
  const double t25 = fma(fma(0.05224709948779367, t12, -0.08029299574476996), t12,
      0.09092636695632472);
  const double t29 = fma(fma(t25, t12, -0.10003149434698166), t12, 0.11111260070436367);
  const double t33 = fma(fma(t29, t12, -0.12499990200666337), t12, 0.14285713557317845);
  const double t37 = fma(fma(t33, t12, -0.1666666667738924), t12, 0.20000000001198348);
  const double t41 = fma(fma(t37, t12, -0.2499999999999716), t12, 0.3333333333333273);
  const double t44 = fma(t12 * t12, fma(t41, t12, -0.5), fma(t5, -1.7239444525614835e-13, t12
      - (t15 - t14)));
  const double w = -(t15 + t44);
  const double place = fma(w, 0.415973377703827, 1.0);
  const u64 index = bits_as<u64>(place) >> 52;
  const double centre = TABLE_9c5dd972[0][index & 3];
  const double first = TABLE_7cdd4008[0][index & 3];
  const double distance = w - centre;
  const double t76 = distance * distance;
  const double t77 = fma(TABLE_15c2e100[0][index & 3], t76, TABLE_429c9bcd[0][index & 3]);
  const double t79 = fma(fma(t77, t76, TABLE_ef022878[0][index & 3]), t76,
      TABLE_fa7fafb7[0][index & 3]);
  const double t81 = fma(fma(t79, t76, TABLE_6f8db553[0][index & 3]), t76,
      TABLE_4b491270[0][index & 3]);
  const double t83 = fma(fma(t81, t76, TABLE_d83ffcef[0][index & 3]), t76,
      TABLE_c19820ed[0][index & 3]);
  const double t85 = fma(TABLE_35d91b16[0][index & 3], t76, TABLE_8500936d[0][index & 3]);
  const double t87 = fma(fma(t85, t76, TABLE_07a6b894[0][index & 3]), t76,
      TABLE_c9ef8265[0][index & 3]);
  const double t89 = fma(fma(t87, t76, TABLE_70f78f20[0][index & 3]), t76,
      TABLE_d4922b66[0][index & 3]);
  const double t91 = fma(fma(t89, t76, TABLE_34972b99[0][index & 3]), t76,
      TABLE_bbfd79f9[0][index & 3]);
  const double t93 = fma(fma(t91, t76, TABLE_c9ee16c7[0][index & 3]), distance, fma(t83, t76,
      TABLE_3d0c2afe[0][index & 3]));
  const double t95 = fma(fma(t93, distance, TABLE_4a0f6e72[0][index & 3]), distance,
      TABLE_63f1d4b5[0][index & 3]);
  const double t97 = fma(fma(t95, distance, TABLE_27f35632[0][index & 3]), distance, first);
  const double y = x * t97;
  const double magnitude = fabs(x);
  const double t105 = (magnitude == 1.0) ? (x * bits_as<double>(0x7ff0000000000000ull)) :
      bits_as<double>(0x7ff8000000000000ull);
  return (magnitude < 1.0) ? y : t105;
}

}  // namespace gb

#endif
