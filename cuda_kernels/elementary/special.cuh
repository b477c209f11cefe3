// Roots, and the error functions.
//
// Written by `make generate` from gpubcast/hlo/elementary/special.py; do not edit.
#ifndef GB_ELEMENTARY_SPECIAL_CUH
#define GB_ELEMENTARY_SPECIAL_CUH

#include "scalar.cuh"
#include "elementary/native.cuh"

namespace gb {

// 1 / sqrt(x): from a guess made of the bits, rounded to half of its bits, a polynomial in what
// 1 - x y y leaves, which is rounded once.
GB_FN float rsqrt(float x) {
  GB_ENTER
  const bool small = x < 1.1754944e-38f;
  const float a = fma(x, small ? 16777215.0f : 0.0f, x);
  const float t13 = bits_as<float>(0x5f0b4c00u - (bits_as<u32>(fabs(a)) >> 1));
  const u32 root = bits_as<u32>(t13 * fma(-(a * t13), t13, 1.8914f)) & 0xffffe000u;
  const float t23 = bits_as<float>(root);
  const float rest = fma(-a, t23 * t23, 1.0f);
  const u32 back = small ? 0x6000000u : 0x0u;
  const float t31 = bits_as<float>(root + back);
  const float y = fma(t31 * rest, fma(0.37500042f, rest, 0.5000015f), t31);
  return root_domain(x, y, rest);
}

// 1 / sqrt(x): from a guess made of the bits, rounded to half of its bits, a polynomial in what
// 1 - x y y leaves, which is rounded once.
GB_FN double rsqrt(double x) {
  GB_ENTER
  const bool small = x < 2.2250738585072014e-308;
  const double a = fma(x, small ? 4503599627370495.0 : 0.0, x);
  const double t13 = bits_as<double>(0x5fe1679d00000000ull - (bits_as<u64>(fabs(a)) >> 1));
  const u64 root = bits_as<u64>(t13 * fma(-(a * t13), t13, 1.891)) & 0xfffffffff0000000ull;
  const double t23 = bits_as<double>(root);
  const double rest = fma(-a, t23 * t23, 1.0);
  const u64 back = small ? 0x1a0000000000000ull : 0x0ull;
  const double t31 = bits_as<double>(root + back);
  const double t37 = fma(fma(0.24609457888344785, rest, 0.2734383914289734), rest,
      0.31249999999934314);
  const double y = fma(t31 * rest, fma(fma(t37, rest, 0.3749999999992955), rest, 0.5), t31);
  return root_domain(x, y, rest);
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

#ifndef GB_HAS_TABLE_24a13d5e
#define GB_HAS_TABLE_24a13d5e
GB_TABLE float TABLE_24a13d5e[10][8] = {
  {0.39345467f, 0.655633f, 1.0493941f, 1.5737603f,
   2.3606036f, 3.4087539f, 0.0f, 0.19670106f,
  },
  {0.42208233f, 0.6461799f, 0.86220896f, 0.97396123f,
   0.99915737f, 0.99999857f, 0.0f, 0.21912375f,
  },
  {0.96654797f, 0.73412764f, 0.37514383f, 0.09480443f,
   0.0042892112f, 1.0138485e-05f, 0.12837917f, 1.0855545f,
  },
  {-0.38029286f, -0.4813183f, -0.39367372f, -0.14919944f,
   -0.010125006f, -3.4568362e-05f, 0.0f, -0.2135299f,
  },
  {-0.22242495f, -0.03432677f, 0.15036397f, 0.12493478f,
   0.014501229f, 7.536374e-05f, -0.37612537f, -0.3337893f,
  },
  {0.17054054f, 0.17169587f, 0.052328262f, -0.048575636f,
   -0.013743743f, -0.000116714f, 0.0f, 0.104322106f,
  },
  {0.039225f, -0.0351558f, -0.06704971f, -0.0069120615f,
   0.008667999f, 0.00013404022f, 0.11267812f, 0.06353937f,
  },
  {-0.05265523f, -0.038523257f, 0.00951367f, 0.016579855f,
   -0.0031301838f, -0.00012304957f, 0.0f, -0.17699924f,
  },
  {0.018400501f, 0.029546235f, 0.01279582f, -0.005586127f,
   -0.00015131594f, 0.00010014644f, -0.02056421f, 3.7550054f,
  },
  {0.073342256f, 0.017426789f, -0.0054036654f, -0.001331799f,
   0.0006679599f, -5.202567e-05f, 0.0f, 18.925564f,
  },
};
#endif
// The error function. F32: by a polynomial for each of eight intervals. F64: x + x P(x^2) near
// 0, then 1 - e^Q(x).
GB_FN float erf(float x) {
  GB_ENTER
  const float magnitude = fabs(x);
  const float a = (magnitude > 3.93f) ? 3.93f : magnitude;
  const float t7 = fma(a, 3.8125f, 1.0f);
  const u32 t10 = bits_as<u32>(t7) >> 22;
  const float t21 = a - TABLE_24a13d5e[0][t10 & 7];
  const float t25 = fma(TABLE_24a13d5e[9][t10 & 7], t21, TABLE_24a13d5e[8][t10 & 7]);
  const float t27 = fma(fma(t25, t21, TABLE_24a13d5e[7][t10 & 7]), t21, TABLE_24a13d5e[6][t10
      & 7]);
  const float t29 = fma(fma(t27, t21, TABLE_24a13d5e[5][t10 & 7]), t21, TABLE_24a13d5e[4][t10
      & 7]);
  const float t31 = fma(fma(t29, t21, TABLE_24a13d5e[3][t10 & 7]), t21, TABLE_24a13d5e[2][t10
      & 7]);
  const u32 t33 = bits_as<u32>(fma(t31, t21, (t7 < 1.5f) ? a : TABLE_24a13d5e[1][t10 & 7]));
  return bits_as<float>(t33 | (bits_as<u32>(x) & 0x80000000u));
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

// 1 - erf(x): e^(-x^2) times a rational function, each rounding made good.
GB_FN float erfc(float x) {
  GB_ENTER
  const float magnitude = fabs(x);
  const float a = (magnitude > 10.5f) ? 10.5f : magnitude;
  const float t8 = 1.0f / (a + 3.0f);
  const float t10 = (a - 3.0f) * t8;
  const float q = fma(fma(t10, -a, fma(t10 + 1.0f, -3.0f, a)), t8, t10);
  const float t22 = fma(fma(-0.00026424686f, q, -0.0007675926f), q, 0.0020078493f);
  const float t28 = fma(fma(fma(t22, q, 0.0025638363f), q, -0.023801627f), q, 0.06829578f);
  const float t34 = fma(fma(fma(t28, q, -0.11927023f), q, 0.12964648f), q, -0.047562443f);
  const float t37 = q * fma(t34, q, -0.13562115f);
  const float p = 1.253008f + t37;
  const float p_low = (t37 - (p - 1.253008f)) + 5.1524452e-08f;
  const float below = fma(a, 2.0f, 1.0f);
  const float below_low = fma(a, 2.0f, 1.0f - below);
  const float inverse = 1.0f / below;
  const float t48 = p * inverse;
  const float t49 = -t48;
  const float remainder = fma(t49, below_low, fma(t49, below, p)) + p_low;
  const float factor = fma(remainder, inverse, t48);
  const float square = a * a;
  const float t55 = -square;
  const float square_low = fma(a, a, t55);
  const float n = rint(t55 * 1.442695f);
  const float t65 = fma(n, -1.4286068e-06f, fma(n, -0.69314575f, t55)) + (-square_low);
  const float t73 = fma(fma(fma(0.001392491f, t65, 0.0083692465f), t65, 0.041666575f), t65,
      0.16666515f);
  const float e = fma(t65 * t65, fma(t73, t65, 0.5f), t65);
  const u32 whole = bits_as<u32>(n + 12582912.0f) - 0x4b400000u;
  const u32 half = static_cast<u32>(static_cast<i32>(whole) >> 1);
  const float t95 = (fma(factor, e, factor) * bits_as<float>((half + 0x7fu) << 23)) *
      bits_as<float>(((whole - half) + 0x7fu) << 23);
  const float y = (x < 0.0f) ? (2.0f - t95) : t95;
  const float t100 = -x;
  const float high = 1.0f + t100;
  const float low = t100 - (high - 1.0f);
  const float t104 = x * x;
  const float t109 = fma(fma(7.920304e-05f, t104, -0.00080307503f), t104, 0.0051907334f);
  const float t115 = fma(fma(fma(t109, t104, -0.026855126f), t104, 0.11283618f), t104,
      -0.3761263f);
  const float near = high + fma(t100, fma(t115, t104, 0.12837917f), low);
  return (magnitude < 0.5f) ? near : y;
}

// 1 - erf(x): e^(-x^2) times a rational function, each rounding made good.
GB_FN double erfc(double x) {
  GB_ENTER
  const double magnitude = fabs(x);
  const double a = (magnitude > 28.0) ? 28.0 : magnitude;
  const double t8 = 1.0 / (a + 4.0);
  const double t10 = (a - 4.0) * t8;
  const double q = fma(fma(t10, -a, fma(t10 + 1.0, -4.0, a)), t8, t10);
  const double t18 = q * q;
  const double t23 = fma(fma(-1.7166473925064596e-09, t18, -7.770258788858141e-09), t18,
      6.236417587442524e-08);
  const double t27 = fma(fma(t23, t18, 3.0198229532806647e-07), t18, -1.1225295958586264e-05);
  const double t31 = fma(fma(t27, t18, 0.00015062247433967187), t18, -0.000757773404708457);
  const double t35 = fma(fma(t31, t18, -0.01619773404863077), t18, -0.06633036581252195);
  const double t42 = fma(fma(-1.338052462337911e-08, t18, 1.1455502230870822e-07), t18,
      -8.342479217451422e-07);
  const double t46 = fma(fma(t42, t18, 5.717313329290876e-06), t18, -2.4402955929432106e-05);
  const double t50 = fma(fma(t46, t18, -0.00019925555511752388), t18, 0.005031969762038652);
  const double t54 = fma(fma(t50, t18, 0.037167515562075225), t18, 0.09373283499680606);
  const double t57 = fma(fma(t54, q, fma(t35, t18, -0.10103906603630473)), q,
      0.06809705425473726);
  const double t61 = fma(fma(t57, q, 0.015379652102619882), q, -0.1396211168405629);
  const double t62 = q * t61;
  const double p = 1.2329951186255526 + t62;
  const double p_low = (t62 - (p - 1.2329951186255526)) + (-4.6279876929114386e-17);
  const double below = fma(a, 2.0, 1.0);
  const double below_low = fma(a, 2.0, 1.0 - below);
  const double inverse = 1.0 / below;
  const double t73 = p * inverse;
  const double t74 = -t73;
  const double remainder = fma(t74, below_low, fma(t74, below, p)) + p_low;
  const double factor = fma(remainder, inverse, t73);
  const double square = a * a;
  const double t80 = -square;
  const double square_low = fma(a, a, t80);
  const double n = rint(t80 * 1.4426950408889634);
  const double t89 = fma(n, -5.497923018708371e-14, fma(n, -0.6931471805598903, t80));
  const double t90 = t89 + (-square_low);
  const double t96 = fma(fma(2.0913701906870593e-09, t90, 2.511313965305858e-08), t90,
      2.7557275754576897e-07);
  const double t100 = fma(fma(t96, t90, 2.7557231673899325e-06), t90, 2.4801587324197108e-05);
  const double t104 = fma(fma(t100, t90, 0.00019841269899602284), t90, 0.0013888888888883984);
  const double t108 = fma(fma(t104, t90, 0.008333333333315722), t90, 0.04166666666666667);
  const double e = fma(t90 * t90, fma(fma(t108, t90, 0.16666666666666685), t90, 0.5), t90);
  const u64 whole = bits_as<u64>(n + 6755399441055744.0) - 0x4338000000000000ull;
  const u64 half = static_cast<u64>(static_cast<i64>(whole) >> 1);
  const double t127 = fma(factor, e, factor) * bits_as<double>((half + 0x3ffull) << 52);
  const double t132 = t127 * bits_as<double>(((whole - half) + 0x3ffull) << 52);
  const double y = (x < 0.0) ? (2.0 - t132) : t132;
  const double t137 = -x;
  const double high = 1.0 + t137;
  const double low = t137 - (high - 1.0);
  const double t141 = x * x;
  const double t142 = t141 * t141;
  const double t147 = fma(fma(-8.214349872766105e-10, t142, -1.6252528838776882e-07), t142,
      -1.4925132060444454e-05);
  const double t151 = fma(fma(t147, t142, -0.0008548326554644308), t142,
      -0.026866170644461267);
  const double t156 = fma(fma(1.3926751567383994e-08, t142, 1.6452722766797725e-06), t142,
      0.00012055313804106508);
  const double t161 = fma(fma(fma(t156, t142, 0.0052239776181558055), t141, t151), t141,
      0.11283791670951934);
  const double t165 = fma(fma(t161, t141, -0.3761263890318369), t141, 0.12837916709551256);
  const double near = high + fma(t137, t165, low);
  return (magnitude < 0.5) ? near : y;
}

// The inverse of erf: x P(w), where w = -ln(1 - x^2).
GB_FN float erf_inv(float x) {
  GB_ENTER
  const float magnitude = fabs(x);
  const bool inside = magnitude < 1.0f;
  const u32 t8 = bits_as<u32>(inside ? fma(-x, x, 1.0f) : 0.5f);
  const u32 t12 = static_cast<u32>(static_cast<i32>(t8 - 0x3f3504f3u) >> 23);
  const float t16 = bits_as<float>(t8 - (t12 << 23)) - 1.0f;
  const float t17 = 0.5f * t16;
  const float t18 = t17 * t16;
  const float t19 = -t18;
  const float t21 = t16 + t19;
  const float t32 = fma(fma(fma(-0.07643457f, t16, 0.12767443f), t16, -0.13159648f), t16,
      0.14200921f);
  const float t38 = fma(fma(fma(t32, t16, -0.16623324f), t16, 0.20001261f), t16,
      -0.25000823f);
  const float t42 = fma(t16 * (t18 + t18), fma(t38, t16, 0.3333333f), -fma(t17, t16, t19));
  const float t48 = bits_as<float>(t12 + 0x4b400000u) - 12582912.0f;
  const float t50 = t48 * 0.69314575f;
  const float high = t50 + t21;
  const float low = (t21 - (high - t50)) + fma(t48, 1.4286068e-06f, (t19 - (t21 - t16)) +
      t42);
  const float w = -(high + low);
  const float t60 = w - 3.0f;
  const float t65 = fma(fma(1.1592993e-10f, t60, -5.741498e-09f), t60, -6.9440573e-09f);
  const float t71 = fma(fma(fma(t65, t60, 4.538266e-07f), t60, -1.8648199e-06f), t60,
      -1.2745144e-05f);
  const float t77 = fma(fma(fma(t71, t60, 0.00019541083f), t60, -0.00083610223f), t60,
      -0.0057385084f);
  const float t79 = fma(t77, t60, 0.24163035f);
  const float term = t79 * t60;
  const float term_low = fma(t79, t60, -term);
  const float t84 = 1.6235421f + term;
  const float root = sqrt(w);
  const bool t90 = w < 6.0f;
  const float t91 = root - 3.0f;
  const float t96 = fma(fma(-5.558456e-05f, t91, -0.00013243155f), t91, 0.0013287984f);
  const float t102 = fma(fma(fma(t96, t91, -0.003511192f), t91, 0.0057137758f), t91,
      -0.0076568285f);
  const float t108 = fma(fma(fma(t102, t91, 0.009444358f), t91, 1.0016762f), t91, 2.8329768f);
  const float y = t90 ? t84 : t108;
  const float y_low = t90 ? ((term - (t84 - 1.6235421f)) + term_low) : 0.0f;
  const float t118 = (magnitude == 1.0f) ? (x * bits_as<float>(0x7f800000u)) :
      bits_as<float>(0x7fc00000u);
  return inside ? fma(x, y, x * y_low) : t118;
}

// The inverse of erf: x P(w), where w = -ln(1 - x^2).
GB_FN double erf_inv(double x) {
  GB_ENTER
  const double magnitude = fabs(x);
  const bool inside = magnitude < 1.0;
  const u64 t8 = bits_as<u64>(inside ? fma(-x, x, 1.0) : 0.5);
  const u64 t12 = static_cast<u64>(static_cast<i64>(t8 - 0x3fe6a09e667f3bcdull) >> 52);
  const double t16 = bits_as<double>(t8 - (t12 << 52)) - 1.0;
  const double t17 = 0.5 * t16;
  const double t18 = t17 * t16;
  const double t19 = -t18;
  const double t21 = t16 + t19;
  const double t26 = t16 * t16;
  const double t31 = fma(fma(-0.02431663868850226, t26, -0.0627663511376849), t26,
      -0.05325878640637993);
  const double t35 = fma(fma(t31, t26, -0.0626995347889356), t26, -0.07141987054483441);
  const double t39 = fma(fma(t35, t26, -0.08333346389682886), t26, -0.10000000365738536);
  const double t43 = fma(fma(t39, t26, -0.12499999982288176), t26, -0.16666666666912378);
  const double t48 = fma(fma(0.05702826792959752, t26, 0.05414363243414106), t26,
      0.05817895478325771);
  const double t52 = fma(fma(t48, t26, 0.06675155086785937), t26, 0.07691712893037726);
  const double t56 = fma(fma(t52, t26, 0.09090933610753268), t26, 0.1111111051256426);
  const double t61 = fma(fma(fma(t56, t26, 0.14285714293901283), t16, t43), t16,
      0.19999999999945653);
  const double t65 = fma(fma(t61, t16, -0.24999999999998926), t16, 0.33333333333333454);
  const double t68 = (t19 - (t21 - t16)) + fma(t16 * (t18 + t18), t65, -fma(t17, t16, t19));
  const double t73 = bits_as<double>(t12 + 0x4338000000000000ull) - 6755399441055744.0;
  const double t75 = t73 * 0.6931471805598903;
  const double high = t75 + t21;
  const double low = (t21 - (high - t75)) + fma(t73, 5.497923018708371e-14, t68);
  const double w = -(high + low);
  const double t85 = w - 3.125;
  const double t86 = t85 * t85;
  const double t91 = fma(fma(-1.003640782418868e-22, t86, 4.8115279170040015e-21), t86,
      9.968959014266777e-19);
  const double t95 = fma(fma(t91, t86, -1.2789431733372388e-16), t86, 6.5749569555895895e-15);
  const double t99 = fma(fma(t95, t86, -8.105028016837997e-14), t86, -1.2977442135799212e-11);
  const double t103 = fma(fma(t99, t86, 1.0512196810621425e-09), t86,
      -2.9070384922679185e-08);
  const double t107 = fma(fma(t103, t86, -1.3654691823223876e-06), t86,
      0.00018673420802318926);
  const double t112 = fma(fma(2.6164229943130124e-22, t86, -1.2733581189057557e-20), t86,
      7.916657725513324e-20);
  const double t116 = fma(fma(t112, t86, 8.905342329796764e-18), t86, 2.6026130979256088e-17);
  const double t120 = fma(fma(t116, t86, -4.0452818845129904e-14), t86,
      2.6324647210235168e-12);
  const double t124 = fma(fma(t120, t86, -5.414886168370151e-11), t86,
      -4.112648991320866e-09);
  const double t128 = fma(fma(t124, t86, 4.2347880293933145e-07), t86,
      -1.3882523384536975e-05);
  const double t133 = fma(fma(fma(t128, t85, t107), t85, -0.0007407025341576045), t85,
      -0.006033670871427544);
  const double t135 = fma(t133, t85, 0.24015818242558862);
  const double term = t135 * t85;
  const double term_low = fma(t135, t85, -term);
  const double t140 = 1.6536545626831027 + term;
  const double root = sqrt(w);
  const bool t146 = w < 6.25;
  const double t148 = root - 3.25;
  const double t149 = t148 * t148;
  const double t154 = fma(fma(-1.4603948383585462e-08, t149, 1.2964841362567363e-07), t149,
      -2.5364145506619777e-08);
  const double t158 = fma(fma(t154, t149, -3.987136970030539e-06), t149,
      1.2465567949736793e-05);
  const double t162 = fma(fma(t158, t149, 6.828699445639762e-05), t149,
      -0.00035503779734918423);
  const double t166 = fma(fma(t162, t149, -0.001688275536638244), t149,
      -0.0037512085081856414);
  const double t171 = fma(fma(2.1474805790974883e-08, t149, -5.988472140755475e-08), t149,
      -1.9870913161745682e-07);
  const double t175 = fma(fma(t171, t149, 1.4504966038148954e-06), t149,
      2.9450711875050046e-06);
  const double t179 = fma(fma(t175, t149, -4.7323786336386766e-05), t149,
      2.4031982866702018e-05);
  const double t183 = fma(fma(t179, t149, 0.0009532893007269558), t149, 0.002491442099760104);
  const double t188 = fma(fma(fma(t183, t148, t166), t148, 0.005370914553524164), t148,
      1.005258967694165);
  const double t193 = t146 ? ((term - (t140 - 1.6536545626831027)) + term_low) : 0.0;
  const bool t195 = w < 16.0;
  const double t197 = root - 5.0;
  const double t198 = t197 * t197;
  const double t203 = fma(fma(5.145905328167805e-11, t198, -4.742873908902132e-10), t198,
      -3.4067979632064853e-09);
  const double t207 = fma(fma(t203, t198, -1.5315100038767087e-08), t198,
      -6.75244742608467e-08);
  const double t211 = fma(fma(t207, t198, -9.930388637179637e-07), t198,
      -1.9681769204088733e-05);
  const double t218 = fma(fma(-2.612326563770484e-11, t198, 9.597515365706973e-11), t198,
      1.2648545858475504e-09);
  const double t222 = fma(fma(t218, t198, 7.875382146765082e-09), t198,
      2.8985104247727095e-08);
  const double t226 = fma(fma(t222, t198, 2.2906522220765474e-07), t198,
      4.5260499161249735e-06);
  const double t229 = fma(fma(t226, t198, 7.599527837541196e-05), t197, fma(t211, t198,
      -0.00021503011993331413));
  const double t233 = fma(fma(t229, t197, -0.00013871931839174037), t197, 1.0103004648645475);
  const double y = t195 ? (t146 ? t140 : fma(t188, t148, 3.0838856104922208)) : fma(t233,
      t197, 4.849906401408584);
  const double y_low = t195 ? t193 : 0.0;
  const double t244 = (magnitude == 1.0) ? (x * bits_as<double>(0x7ff0000000000000ull)) :
      bits_as<double>(0x7ff8000000000000ull);
  return inside ? fma(x, y, x * y_low) : t244;
}

}  // namespace gb

#endif
