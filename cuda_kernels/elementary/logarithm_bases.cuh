// Logarithms to bases 2 and 10. They are apart from the natural one so that its kernels do not read
//
// Written by `make generate` from gpubcast/hlo/elementary/logarithm_bases.py; do not edit.
#ifndef GB_ELEMENTARY_LOGARITHM_BASES_CUH
#define GB_ELEMENTARY_LOGARITHM_BASES_CUH

#include "scalar.cuh"
#include "elementary/logarithm.cuh"
#include "elementary/native.cuh"

namespace gb {

#ifndef GB_HAS_TABLE_81053e17
#define GB_HAS_TABLE_81053e17
GB_TABLE float TABLE_81053e17[2][8] = {
  {1.0f, 0.8414747f, 0.7621539f, 0.6991644f,
   1.285641f, 1.1846877f, 1.1065997f, 1.0f,
  },
  {0.0f, 0.24900818f, 0.3918457f, 0.5162964f,
   0.6375122f, 0.75549316f, 0.8538666f, 1.0f,
  },
};
#endif
// The logarithm to base 2 of any number.
GB_RARE float log2_edge(float x) {
  GB_ENTER
  const bool t2 = x < 1.1754944e-38f;
  const float t5 = t2 ? (x * 16777216.0f) : x;
  const float t6 = normal_mantissa(t5);
  const u32 t10 = bits_as<u32>(t6) >> 20;
  const float t14 = fma(t6, TABLE_81053e17[0][t10 & 7], -1.0f);
  const float t19 = (floor_exponent(t5) - (t2 ? 24.0f : 0.0f)) + TABLE_81053e17[1][t10 & 7];
  const float t20 = t19 + t14;
  const float t29 = fma(fma(fma(-0.20819837f, t14, 0.28856376f), t14, -0.36085072f), t14,
      0.4809006f);
  const float t34 = fma(t14, fma(fma(t29, t14, -0.72134733f), t14, 0.44269505f), t14 - (t20 -
      t19));
  return log_domain(x, t20 + t34);
}

#ifndef GB_HAS_TABLE_f6d9dc12
#define GB_HAS_TABLE_f6d9dc12
GB_TABLE double TABLE_f6d9dc12[1][8] = {
  {1.0, 0.8421052623827183, 0.7619047619042143, 0.695652173406885,
   1.279999999578267, 1.1851851857444426, 1.1034482750252894, 1.0,
  },
};
#endif
#ifndef GB_HAS_TABLE_97abcd5a
#define GB_HAS_TABLE_97abcd5a
GB_TABLE double TABLE_97abcd5a[1][8] = {
  {0.0, 0.247927514771618, 0.3923174227797972, 0.5235619571067218,
   0.6438561902500624, 0.754887501482699, 0.8579809962216132, 1.0,
  },
};
#endif
// The logarithm to base 2 of any number.
GB_RARE double log2_edge(double x) {
  GB_ENTER
  const bool t2 = x < 2.2250738585072014e-308;
  const double t5 = t2 ? (x * 9007199254740992.0) : x;
  const double t6 = normal_mantissa(t5);
  const u64 t10 = bits_as<u64>(t6) >> 49;
  const double t14 = fma(t6, TABLE_f6d9dc12[0][t10 & 7], -1.0);
  const double t19 = (floor_exponent(t5) - (t2 ? 53.0 : 0.0)) + TABLE_97abcd5a[0][t10 & 7];
  const double t20 = t19 + t14;
  const double t27 = fma(fma(0.07867637029387417, t14, -0.11697595508869815), t14,
      0.13127444751990736);
  const double t31 = fma(fma(t27, t14, -0.14430815699733449), t14, 0.16030043937769295);
  const double t35 = fma(fma(t31, t14, -0.1803367368679502), t14, 0.206099285394803);
  const double t39 = fma(fma(t35, t14, -0.24044917370326507), t14, 0.2885390081884985);
  const double t43 = fma(fma(t39, t14, -0.36067376022209974), t14, 0.48089834696298245);
  const double t47 = fma(fma(t43, t14, -0.7213475204444817), t14, 0.4426950408889634);
  return log_domain(x, t20 + fma(t14, t47, t14 - (t20 - t19)));
}

// y, a binary logarithm, where x is normal and positive, and the logarithm of x elsewhere.
GB_FN float log2_ends(float x, float y) {
  GB_ENTER
  const float t9 = (((bits_as<u32>(x) - 0x800000u) < 0x7f000000u) ^ true) ? log2_edge(x) : y;
  return t9;
}

// y, a binary logarithm, where x is normal and positive, and the logarithm of x elsewhere.
GB_FN double log2_ends(double x, double y) {
  GB_ENTER
  const bool t6 = (bits_as<u64>(x) - 0x10000000000000ull) < 0x7fe0000000000000ull;
  return (t6 ^ true) ? log2_edge(x) : y;
}

#ifndef GB_HAS_TABLE_40fc5f68
#define GB_HAS_TABLE_40fc5f68
GB_TABLE float TABLE_40fc5f68[2][8] = {
  {1.0f, 0.8429249f, 0.7615704f, 0.6992848f,
   1.281705f, 1.185564f, 1.103088f, 1.0f,
  },
  {0.0f, 0.07421112f, 0.11828995f, 0.15534592f,
   -0.107788086f, -0.07392502f, -0.04261017f, 0.0f,
  },
};
#endif
// The logarithm to base 10 of any number.
GB_RARE float log10_edge(float x) {
  GB_ENTER
  const bool t2 = x < 1.1754944e-38f;
  const float t5 = t2 ? (x * 16777216.0f) : x;
  const float t6 = normal_mantissa(t5);
  const u32 t10 = bits_as<u32>(t6) >> 20;
  const float t14 = fma(t6, TABLE_40fc5f68[0][t10 & 7], -1.0f);
  const float t18 = normal_exponent(t5) - (t2 ? 24.0f : 0.0f);
  const float t20 = fma(t18, 0.3010292f, TABLE_40fc5f68[1][t10 & 7]);
  const float t22 = fma(t14, 0.4342945f, t20);
  const float t33 = fma(fma(fma(-0.062673956f, t14, 0.08686635f), t14, -0.10862689f), t14,
      0.1447655f);
  const float t38 = fma(t14, fma(t14, fma(t33, t14, -0.21714719f), -1.010305e-08f), fma(t18,
      7.903417e-07f, fma(t14, 0.4342945f, t20 - t22)));
  return log_domain(x, t22 + t38);
}

#ifndef GB_HAS_TABLE_9fde2800
#define GB_HAS_TABLE_9fde2800
GB_TABLE double TABLE_9fde2800[1][8] = {
  {1.0, 0.8421052633574013, 0.7619047618279375, 0.6956521738610986,
   1.2800000003922847, 1.1851851849310897, 1.1034482761667257, 1.0,
  },
};
#endif
#ifndef GB_HAS_TABLE_5478d96a
#define GB_HAS_TABLE_5478d96a
GB_TABLE double TABLE_5478d96a[1][8] = {
  {0.0, 0.0746336181940137, 0.11809931212178526, 0.15760785339409722,
   -0.10720996978096764, -0.07378621406780894, -0.04275198054085649, 0.0,
  },
};
#endif
// The logarithm to base 10 of any number.
GB_RARE double log10_edge(double x) {
  GB_ENTER
  const bool t2 = x < 2.2250738585072014e-308;
  const double t5 = t2 ? (x * 9007199254740992.0) : x;
  const double t6 = normal_mantissa(t5);
  const u64 t10 = bits_as<u64>(t6) >> 49;
  const double t14 = fma(t6, TABLE_9fde2800[0][t10 & 7], -1.0);
  const double t18 = normal_exponent(t5) - (t2 ? 53.0 : 0.0);
  const double t20 = fma(t18, 0.3010299956640665, TABLE_5478d96a[0][t10 & 7]);
  const double t22 = fma(t14, 0.4342944819032518, t20);
  const double t26 = fma(t18, -8.532344317057107e-14, fma(t14, 0.4342944819032518, t20 -
      t22));
  const double t31 = fma(fma(0.023683947408422723, t14, -0.03521327125314086), t14,
      0.03951754636770923);
  const double t35 = fma(fma(t31, t14, -0.04344108387518472), t14, 0.048255240570801196);
  const double t39 = fma(fma(t35, t14, -0.05428676711741557), t14, 0.06204206698874717);
  const double t43 = fma(fma(t39, t14, -0.07238241371730174), t14, 0.08685889638387313);
  const double t47 = fma(fma(t43, t14, -0.10857362047577047), t14, 0.14476482730108234);
  const double t51 = fma(t14, fma(t47, t14, -0.2171472409516259), 1.098319650216765e-17);
  return log_domain(x, t22 + fma(t14, t51, t26));
}

// y, a decimal logarithm, where x is normal and positive, and the logarithm of x elsewhere.
GB_FN float log10_ends(float x, float y) {
  GB_ENTER
  const float t9 = (((bits_as<u32>(x) - 0x800000u) < 0x7f000000u) ^ true) ? log10_edge(x) : y;
  return t9;
}

// y, a decimal logarithm, where x is normal and positive, and the logarithm of x elsewhere.
GB_FN double log10_ends(double x, double y) {
  GB_ENTER
  const bool t6 = (bits_as<u64>(x) - 0x10000000000000ull) < 0x7fe0000000000000ull;
  return (t6 ^ true) ? log10_edge(x) : y;
}

// The logarithm to base 2: e + log2(m) of x = m 2^e.
GB_FN float log2(float x) {
  GB_ENTER
  const float t1 = normal_mantissa(x);
  const u32 t5 = bits_as<u32>(t1) >> 20;
  const float t9 = fma(t1, TABLE_81053e17[0][t5 & 7], -1.0f);
  const float t10 = floor_exponent(x) + TABLE_81053e17[1][t5 & 7];
  const float t11 = t10 + t9;
  const float t20 = fma(fma(fma(-0.20819837f, t9, 0.28856376f), t9, -0.36085072f), t9,
      0.4809006f);
  const float t25 = fma(t9, fma(fma(t20, t9, -0.72134733f), t9, 0.44269505f), t9 - (t11 -
      t10));
  return log2_ends(x, t11 + t25);
}

// The logarithm to base 2: e + log2(m) of x = m 2^e.
GB_FN double log2(double x) {
  GB_ENTER
  const double t1 = normal_mantissa(x);
  const u64 t5 = bits_as<u64>(t1) >> 49;
  const double t9 = fma(t1, TABLE_f6d9dc12[0][t5 & 7], -1.0);
  const double t10 = floor_exponent(x) + TABLE_97abcd5a[0][t5 & 7];
  const double t11 = t10 + t9;
  const double t18 = fma(fma(0.07867637029387417, t9, -0.11697595508869815), t9,
      0.13127444751990736);
  const double t22 = fma(fma(t18, t9, -0.14430815699733449), t9, 0.16030043937769295);
  const double t28 = fma(fma(fma(t22, t9, -0.1803367368679502), t9, 0.206099285394803), t9,
      -0.24044917370326507);
  const double t32 = fma(fma(t28, t9, 0.2885390081884985), t9, -0.36067376022209974);
  const double t36 = fma(fma(t32, t9, 0.48089834696298245), t9, -0.7213475204444817);
  const double t40 = t11 + fma(t9, fma(t36, t9, 0.4426950408889634), t9 - (t11 - t10));
  return log2_ends(x, t40);
}

// The logarithm to base 10: e log10(2) + log10(m) of x = m 2^e.
GB_FN float log10(float x) {
  GB_ENTER
  const float t1 = normal_mantissa(x);
  const float t2 = normal_exponent(x);
  const u32 t5 = bits_as<u32>(t1) >> 20;
  const float t9 = fma(t1, TABLE_40fc5f68[0][t5 & 7], -1.0f);
  const float t11 = fma(t2, 0.3010292f, TABLE_40fc5f68[1][t5 & 7]);
  const float t13 = fma(t9, 0.4342945f, t11);
  const float t24 = fma(fma(fma(-0.062673956f, t9, 0.08686635f), t9, -0.10862689f), t9,
      0.1447655f);
  const float t29 = fma(t9, fma(t9, fma(t24, t9, -0.21714719f), -1.010305e-08f), fma(t2,
      7.903417e-07f, fma(t9, 0.4342945f, t11 - t13)));
  return log10_ends(x, t13 + t29);
}

// The logarithm to base 10: e log10(2) + log10(m) of x = m 2^e.
GB_FN double log10(double x) {
  GB_ENTER
  const double t1 = normal_mantissa(x);
  const double t2 = normal_exponent(x);
  const u64 t5 = bits_as<u64>(t1) >> 49;
  const double t9 = fma(t1, TABLE_9fde2800[0][t5 & 7], -1.0);
  const double t11 = fma(t2, 0.3010299956640665, TABLE_5478d96a[0][t5 & 7]);
  const double t13 = fma(t9, 0.4342944819032518, t11);
  const double t17 = fma(t2, -8.532344317057107e-14, fma(t9, 0.4342944819032518, t11 - t13));
  const double t22 = fma(fma(0.023683947408422723, t9, -0.03521327125314086), t9,
      0.03951754636770923);
  const double t26 = fma(fma(t22, t9, -0.04344108387518472), t9, 0.048255240570801196);
  const double t30 = fma(fma(t26, t9, -0.05428676711741557), t9, 0.06204206698874717);
  const double t34 = fma(fma(t30, t9, -0.07238241371730174), t9, 0.08685889638387313);
  const double t38 = fma(fma(t34, t9, -0.10857362047577047), t9, 0.14476482730108234);
  const double t42 = fma(t9, fma(t38, t9, -0.2171472409516259), 1.098319650216765e-17);
  return log10_ends(x, t13 + fma(t9, t42, t17));
}

}  // namespace gb

#endif
