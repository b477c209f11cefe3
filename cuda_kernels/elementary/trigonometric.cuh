// sin, cos, tan and their inverses.
//
// Written by `make generate` from gpubcast/hlo/elementary/trigonometric.py; do not edit.
#ifndef GB_ELEMENTARY_TRIGONOMETRIC_CUH
#define GB_ELEMENTARY_TRIGONOMETRIC_CUH

#include "scalar.cuh"

namespace gb {

#ifndef GB_HAS_TABLE_4b61c935
#define GB_HAS_TABLE_4b61c935
GB_TABLE u64 TABLE_4b61c935[1][20] = {
  {0x0ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
   0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x6492eea09d1921cull, 0xfe1deb1cb129a73eull,
   0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
   0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
   0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull,
  },
};
#endif
// The sine of x > LIMIT; NaN of inf.
GB_RARE float sin_large(float x) {
  GB_ENTER
  const u64 t2 = static_cast<u64>(bits_as<u32>(x));
  const u64 t6 = (t2 & 0x7fffffull) | 0x800000ull;
  const u64 t10 = (t2 >> 23) + 0xffffffffffffffa8ull;
  const u32 t13 = static_cast<u32>(t10 >> 6);
  const u64 t15 = t10 & 0x3full;
  const u64 t21 = TABLE_4b61c935[0][t13 + 0x1u];
  const u64 t28 = 0x3full - t15;
  const u64 t35 = t6 * ((TABLE_4b61c935[0][t13 + 0x0u] << t15) | ((t21 >> 1) >> t28));
  const u64 t36 = __umul64hi(t6, (t21 << t15) | ((TABLE_4b61c935[0][t13 + 0x2u] >> 1) >>
      t28));
  const u64 t37 = t35 + t36;
  const u64 t41 = (t37 + 0x2000000000000000ull) >> 62;
  const u64 t43 = t37 - (t41 << 62);
  const u64 t44 = static_cast<u64>(static_cast<i64>(t43) >> 63);
  const u64 t45 = t43 ^ t44;
  const float t50 = static_cast<float>(static_cast<i64>(t45 >> 38));
  const float t53 = static_cast<float>(static_cast<i64>(t45 & 0x3fffffffffull)) *
      3.637979e-12f;
  const float t54 = t50 + t53;
  const float t58 = t54 * 9.362676e-08f;
  const float t63 = fma(t54, -2.6054018e-15f, (t53 - (t54 - t50)) * 9.362676e-08f);
  const float t64 = fma(t54, 9.362676e-08f, -t58) + t63;
  const float t65 = t58 + t64;
  const u32 t70 = static_cast<u32>(t44) & 0x80000000u;
  const u32 t71 = static_cast<u32>(t41);
  const float t74 = bits_as<float>(bits_as<u32>(t65) ^ t70);
  const float t78 = t74 * t74;
  const float t84 = fma(fma(-0.00019507276f, t78, 0.008332103f), t78, -0.16666654f);
  const float t85 = fma(t74 * t78, t84, bits_as<float>(bits_as<u32>(t64 - (t65 - t58)) ^
      t70));
  const float t91 = fma(fma(2.4424027e-05f, t78, -0.0013887237f), t78, 0.041666646f);
  const float t98 = ((t71 & 0x1u) == 0x0u) ? (t74 + t85) : fma(t78, fma(t78, t91, -0.5f),
      1.0f);
  const float t108 = (x < bits_as<float>(0x7f800000u)) ? bits_as<float>(bits_as<u32>(t98) ^
      ((t71 & 0x2u) << 30)) : bits_as<float>(0x7fc00000u);
  return t108;
}

// The sine of x > LIMIT; NaN of inf.
GB_RARE double sin_large(double x) {
  GB_ENTER
  const u64 t1 = bits_as<u64>(x);
  const u64 t5 = (t1 & 0xfffffffffffffull) | 0x10000000000000ull;
  const u64 t9 = (t1 >> 52) + 0xfffffffffffffc0bull;
  const u32 t12 = static_cast<u32>(t9 >> 6);
  const u64 t14 = t9 & 0x3full;
  const u64 t20 = TABLE_4b61c935[0][t12 + 0x1u];
  const u64 t23 = TABLE_4b61c935[0][t12 + 0x2u];
  const u64 t30 = 0x3full - t14;
  const u64 t36 = (t20 << t14) | ((t23 >> 1) >> t30);
  const u64 t41 = t5 * ((TABLE_4b61c935[0][t12 + 0x0u] << t14) | ((t20 >> 1) >> t30));
  const u64 t45 = __umul64hi(t5, (t23 << t14) | ((TABLE_4b61c935[0][t12 + 0x3u] >> 1) >>
      t30));
  const u64 t46 = (t5 * t36) + t45;
  const u64 t50 = (t41 + __umul64hi(t5, t36)) + ((t46 < t45) ? 0x1ull : 0x0ull);
  const u64 t54 = (t50 + 0x2000000000000000ull) >> 62;
  const u64 t56 = t50 - (t54 << 62);
  const u64 t57 = static_cast<u64>(static_cast<i64>(t56) >> 63);
  const u64 t58 = t56 ^ t57;
  const double t68 = static_cast<double>(static_cast<i64>(t58 >> 11));
  const double t69 = static_cast<double>(static_cast<i64>(((t58 & 0x7ffull) << 52) | ((t46 ^
      t57) >> 12)));
  const double t71 = t69 * 1.0842021724855044e-19;
  const double t72 = t68 + t71;
  const double t76 = t72 * 6.975736996017264e-16;
  const double t81 = fma(t72, 2.719262146893782e-32, (t71 - (t72 - t68)) *
      6.975736996017264e-16);
  const double t82 = fma(t72, 6.975736996017264e-16, -t76) + t81;
  const double t83 = t76 + t82;
  const u64 t87 = t57 & 0x8000000000000000ull;
  const double t90 = bits_as<double>(bits_as<u64>(t83) ^ t87);
  const double t94 = t90 * t90;
  const double t100 = fma(fma(1.589618846238677e-10, t94, -2.505074706490216e-08), t94,
      2.7557313617071445e-06);
  const double t104 = fma(fma(t100, t94, -0.00019841269829577542), t94, 0.008333333333322104);
  const double t107 = fma(t90 * t94, fma(t104, t94, -0.1666666666666663),
      bits_as<double>(bits_as<u64>(t82 - (t83 - t76)) ^ t87));
  const double t113 = fma(fma(-1.1358507268160331e-11, t94, 2.0875700290268336e-09), t94,
      -2.7557314175339826e-07);
  const double t117 = fma(fma(t113, t94, 2.4801587288838378e-05), t94,
      -0.0013888888888873036);
  const double t123 = fma(t94, fma(t94, fma(t117, t94, 0.041666666666666595), -0.5), 1.0);
  const u64 t127 = bits_as<u64>(((t54 & 0x1ull) == 0x0ull) ? (t90 + t107) : t123);
  const double t136 = (x < bits_as<double>(0x7ff0000000000000ull)) ? bits_as<double>(t127 ^
      ((t54 & 0x2ull) << 62)) : bits_as<double>(0x7ff8000000000000ull);
  return t136;
}

// The tangent of x > LIMIT; NaN of inf.
GB_RARE float tan_large(float x) {
  GB_ENTER
  const u64 t2 = static_cast<u64>(bits_as<u32>(x));
  const u64 t6 = (t2 & 0x7fffffull) | 0x800000ull;
  const u64 t10 = (t2 >> 23) + 0xffffffffffffffa8ull;
  const u32 t13 = static_cast<u32>(t10 >> 6);
  const u64 t15 = t10 & 0x3full;
  const u64 t21 = TABLE_4b61c935[0][t13 + 0x1u];
  const u64 t28 = 0x3full - t15;
  const u64 t35 = t6 * ((TABLE_4b61c935[0][t13 + 0x0u] << t15) | ((t21 >> 1) >> t28));
  const u64 t36 = __umul64hi(t6, (t21 << t15) | ((TABLE_4b61c935[0][t13 + 0x2u] >> 1) >>
      t28));
  const u64 t37 = t35 + t36;
  const u64 t41 = (t37 + 0x2000000000000000ull) >> 62;
  const u64 t43 = t37 - (t41 << 62);
  const u64 t44 = static_cast<u64>(static_cast<i64>(t43) >> 63);
  const u64 t45 = t43 ^ t44;
  const float t50 = static_cast<float>(static_cast<i64>(t45 >> 38));
  const float t53 = static_cast<float>(static_cast<i64>(t45 & 0x3fffffffffull)) *
      3.637979e-12f;
  const float t54 = t50 + t53;
  const float t58 = t54 * 9.362676e-08f;
  const float t63 = fma(t54, -2.6054018e-15f, (t53 - (t54 - t50)) * 9.362676e-08f);
  const float t64 = fma(t54, 9.362676e-08f, -t58) + t63;
  const float t65 = t58 + t64;
  const u32 t70 = static_cast<u32>(t44) & 0x80000000u;
  const float t74 = bits_as<float>(bits_as<u32>(t65) ^ t70);
  const float t77 = bits_as<float>(bits_as<u32>(t64 - (t65 - t58)) ^ t70);
  const float t78 = t74 * t74;
  const float t84 = fma(fma(0.0045111575f, t78, -0.0001797257f), t78, 0.011044622f);
  const float t90 = fma(fma(fma(t84, t78, 0.021203144f), t78, 0.054074906f), t78,
      0.13332534f);
  const float t95 = ((t74 * t78) * fma(t90, t78, 0.33333352f)) + fma(t77, t78, t77);
  const float t96 = t74 + t95;
  const float t100 = 1.0f / t96;
  const float t101 = -t100;
  const float t104 = fma(fma(t101, t95 - (t96 - t74), fma(t101, t96, 1.0f)), t100, t100);
  const float t112 = (x < bits_as<float>(0x7f800000u)) ? (((static_cast<u32>(t41) & 0x1u) ==
      0x0u) ? t96 : (-t104)) : bits_as<float>(0x7fc00000u);
  return t112;
}

// The tangent of x > LIMIT; NaN of inf.
GB_RARE double tan_large(double x) {
  GB_ENTER
  const u64 t1 = bits_as<u64>(x);
  const u64 t5 = (t1 & 0xfffffffffffffull) | 0x10000000000000ull;
  const u64 t9 = (t1 >> 52) + 0xfffffffffffffc0bull;
  const u32 t12 = static_cast<u32>(t9 >> 6);
  const u64 t14 = t9 & 0x3full;
  const u64 t20 = TABLE_4b61c935[0][t12 + 0x1u];
  const u64 t23 = TABLE_4b61c935[0][t12 + 0x2u];
  const u64 t30 = 0x3full - t14;
  const u64 t36 = (t20 << t14) | ((t23 >> 1) >> t30);
  const u64 t41 = t5 * ((TABLE_4b61c935[0][t12 + 0x0u] << t14) | ((t20 >> 1) >> t30));
  const u64 t45 = __umul64hi(t5, (t23 << t14) | ((TABLE_4b61c935[0][t12 + 0x3u] >> 1) >>
      t30));
  const u64 t46 = (t5 * t36) + t45;
  const u64 t50 = (t41 + __umul64hi(t5, t36)) + ((t46 < t45) ? 0x1ull : 0x0ull);
  const u64 t54 = (t50 + 0x2000000000000000ull) >> 62;
  const u64 t56 = t50 - (t54 << 62);
  const u64 t57 = static_cast<u64>(static_cast<i64>(t56) >> 63);
  const u64 t58 = t56 ^ t57;
  const double t68 = static_cast<double>(static_cast<i64>(t58 >> 11));
  const double t69 = static_cast<double>(static_cast<i64>(((t58 & 0x7ffull) << 52) | ((t46 ^
      t57) >> 12)));
  const double t71 = t69 * 1.0842021724855044e-19;
  const double t72 = t68 + t71;
  const double t76 = t72 * 6.975736996017264e-16;
  const double t81 = fma(t72, 2.719262146893782e-32, (t71 - (t72 - t68)) *
      6.975736996017264e-16);
  const double t82 = fma(t72, 6.975736996017264e-16, -t76) + t81;
  const double t83 = t76 + t82;
  const u64 t87 = t57 & 0x8000000000000000ull;
  const double t90 = bits_as<double>(bits_as<u64>(t83) ^ t87);
  const double t93 = bits_as<double>(bits_as<u64>(t82 - (t83 - t76)) ^ t87);
  const double t94 = t90 * t90;
  const double t100 = fma(fma(2.086355472400142e-05, t94, -4.487767764480369e-05), t94,
      8.94541546882635e-05);
  const double t104 = fma(fma(t100, t94, -2.6387786888996965e-05), t94,
      0.0001365263440280703);
  const double t108 = fma(fma(t104, t94, 0.0002223796624567483), t94, 0.0005950646786392932);
  const double t112 = fma(fma(t108, t94, 0.0014547580152333274), t94, 0.0035922890654873784);
  const double t116 = fma(fma(t112, t94, 0.008863219166268598), t94, 0.021869489608824844);
  const double t120 = fma(fma(t116, t94, 0.05396825392667641), t94, 0.13333333333414604);
  const double t125 = ((t90 * t94) * fma(t120, t94, 0.33333333333332776)) + fma(t93, t94,
      t93);
  const double t126 = t90 + t125;
  const double t130 = 1.0 / t126;
  const double t131 = -t130;
  const double t134 = fma(fma(t131, t125 - (t126 - t90), fma(t131, t126, 1.0)), t130, t130);
  const double t142 = (x < bits_as<double>(0x7ff0000000000000ull)) ? (((t54 & 0x1ull) ==
      0x0ull) ? t126 : (-t134)) : bits_as<double>(0x7ff8000000000000ull);
  return t142;
}

// The cosine of x > LIMIT; NaN of inf.
GB_RARE float cos_large(float x) {
  GB_ENTER
  const u64 t2 = static_cast<u64>(bits_as<u32>(x));
  const u64 t6 = (t2 & 0x7fffffull) | 0x800000ull;
  const u64 t10 = (t2 >> 23) + 0xffffffffffffffa8ull;
  const u32 t13 = static_cast<u32>(t10 >> 6);
  const u64 t15 = t10 & 0x3full;
  const u64 t21 = TABLE_4b61c935[0][t13 + 0x1u];
  const u64 t28 = 0x3full - t15;
  const u64 t35 = t6 * ((TABLE_4b61c935[0][t13 + 0x0u] << t15) | ((t21 >> 1) >> t28));
  const u64 t36 = __umul64hi(t6, (t21 << t15) | ((TABLE_4b61c935[0][t13 + 0x2u] >> 1) >>
      t28));
  const u64 t37 = t35 + t36;
  const u64 t41 = (t37 + 0x2000000000000000ull) >> 62;
  const u64 t43 = t37 - (t41 << 62);
  const u64 t44 = static_cast<u64>(static_cast<i64>(t43) >> 63);
  const u64 t45 = t43 ^ t44;
  const float t50 = static_cast<float>(static_cast<i64>(t45 >> 38));
  const float t53 = static_cast<float>(static_cast<i64>(t45 & 0x3fffffffffull)) *
      3.637979e-12f;
  const float t54 = t50 + t53;
  const float t58 = t54 * 9.362676e-08f;
  const float t63 = fma(t54, -2.6054018e-15f, (t53 - (t54 - t50)) * 9.362676e-08f);
  const float t64 = fma(t54, 9.362676e-08f, -t58) + t63;
  const float t65 = t58 + t64;
  const u32 t70 = static_cast<u32>(t44) & 0x80000000u;
  const float t74 = bits_as<float>(bits_as<u32>(t65) ^ t70);
  const u32 t78 = static_cast<u32>(t41) + 0x1u;
  const float t79 = t74 * t74;
  const float t85 = fma(fma(-0.00019507276f, t79, 0.008332103f), t79, -0.16666654f);
  const float t86 = fma(t74 * t79, t85, bits_as<float>(bits_as<u32>(t64 - (t65 - t58)) ^
      t70));
  const float t92 = fma(fma(2.4424027e-05f, t79, -0.0013887237f), t79, 0.041666646f);
  const float t99 = ((t78 & 0x1u) == 0x0u) ? (t74 + t86) : fma(t79, fma(t79, t92, -0.5f),
      1.0f);
  const float t109 = (x < bits_as<float>(0x7f800000u)) ? bits_as<float>(bits_as<u32>(t99) ^
      ((t78 & 0x2u) << 30)) : bits_as<float>(0x7fc00000u);
  return t109;
}

// The cosine of x > LIMIT; NaN of inf.
GB_RARE double cos_large(double x) {
  GB_ENTER
  const u64 t1 = bits_as<u64>(x);
  const u64 t5 = (t1 & 0xfffffffffffffull) | 0x10000000000000ull;
  const u64 t9 = (t1 >> 52) + 0xfffffffffffffc0bull;
  const u32 t12 = static_cast<u32>(t9 >> 6);
  const u64 t14 = t9 & 0x3full;
  const u64 t20 = TABLE_4b61c935[0][t12 + 0x1u];
  const u64 t23 = TABLE_4b61c935[0][t12 + 0x2u];
  const u64 t30 = 0x3full - t14;
  const u64 t36 = (t20 << t14) | ((t23 >> 1) >> t30);
  const u64 t41 = t5 * ((TABLE_4b61c935[0][t12 + 0x0u] << t14) | ((t20 >> 1) >> t30));
  const u64 t45 = __umul64hi(t5, (t23 << t14) | ((TABLE_4b61c935[0][t12 + 0x3u] >> 1) >>
      t30));
  const u64 t46 = (t5 * t36) + t45;
  const u64 t50 = (t41 + __umul64hi(t5, t36)) + ((t46 < t45) ? 0x1ull : 0x0ull);
  const u64 t54 = (t50 + 0x2000000000000000ull) >> 62;
  const u64 t56 = t50 - (t54 << 62);
  const u64 t57 = static_cast<u64>(static_cast<i64>(t56) >> 63);
  const u64 t58 = t56 ^ t57;
  const double t68 = static_cast<double>(static_cast<i64>(t58 >> 11));
  const double t69 = static_cast<double>(static_cast<i64>(((t58 & 0x7ffull) << 52) | ((t46 ^
      t57) >> 12)));
  const double t71 = t69 * 1.0842021724855044e-19;
  const double t72 = t68 + t71;
  const double t76 = t72 * 6.975736996017264e-16;
  const double t81 = fma(t72, 2.719262146893782e-32, (t71 - (t72 - t68)) *
      6.975736996017264e-16);
  const double t82 = fma(t72, 6.975736996017264e-16, -t76) + t81;
  const double t83 = t76 + t82;
  const u64 t87 = t57 & 0x8000000000000000ull;
  const double t90 = bits_as<double>(bits_as<u64>(t83) ^ t87);
  const u64 t94 = t54 + 0x1ull;
  const double t95 = t90 * t90;
  const double t101 = fma(fma(1.589618846238677e-10, t95, -2.505074706490216e-08), t95,
      2.7557313617071445e-06);
  const double t105 = fma(fma(t101, t95, -0.00019841269829577542), t95, 0.008333333333322104);
  const double t108 = fma(t90 * t95, fma(t105, t95, -0.1666666666666663),
      bits_as<double>(bits_as<u64>(t82 - (t83 - t76)) ^ t87));
  const double t114 = fma(fma(-1.1358507268160331e-11, t95, 2.0875700290268336e-09), t95,
      -2.7557314175339826e-07);
  const double t118 = fma(fma(t114, t95, 2.4801587288838378e-05), t95,
      -0.0013888888888873036);
  const double t124 = fma(t95, fma(t95, fma(t118, t95, 0.041666666666666595), -0.5), 1.0);
  const u64 t128 = bits_as<u64>(((t94 & 0x1ull) == 0x0ull) ? (t90 + t108) : t124);
  const double t137 = (x < bits_as<double>(0x7ff0000000000000ull)) ? bits_as<double>(t128 ^
      ((t94 & 0x2ull) << 62)) : bits_as<double>(0x7ff8000000000000ull);
  return t137;
}

// The sine of x radians.
GB_FN float sin(float x) {
  GB_ENTER
  const float size = fabs(x);
  const float t6 = fma(size, 0.63661975f, 12582912.0f);
  const float t7 = t6 - 12582912.0f;
  const float t9 = fma(t7, -1.5707964f, size);
  const float t12 = t9 + (t7 * 4.371139e-08f);
  const u32 t15 = bits_as<u32>(t6);
  const float t18 = t12 * t12;
  const float t24 = fma(fma(-0.00019507276f, t18, 0.008332103f), t18, -0.16666654f);
  const float t25 = fma(t12 * t18, t24, fma(t7, 1.7151245e-15f, fma(t7, 4.371139e-08f, t9 -
      t12)));
  const float t31 = fma(fma(2.4424027e-05f, t18, -0.0013887237f), t18, 0.041666646f);
  const float t40 = ((t15 & 0x1u) == 0x0u) ? (t12 + t25) : fma(t18, fma(t18, t31, -0.5f),
      1.0f);
  const float value = (size > 131072.0f) ? sin_large(size) : bits_as<float>(bits_as<u32>(t40)
      ^ ((t15 & 0x2u) << 30));
  const float t54 = bits_as<float>(bits_as<u32>(value) ^ (bits_as<u32>(x) & 0x80000000u));
  return t54;
}

// The sine of x radians.
GB_FN double sin(double x) {
  GB_ENTER
  const double size = fabs(x);
  const double t6 = fma(size, 0.6366197723675814, 6755399441055744.0);
  const double t7 = t6 - 6755399441055744.0;
  const double t9 = fma(t7, -1.5707963267948966, size);
  const double t12 = t9 + (t7 * (-6.123233995736766e-17));
  const u64 t15 = bits_as<u64>(t6);
  const double t17 = fma(t7, 1.4973849048591698e-33, fma(t7, -6.123233995736766e-17, t9 -
      t12));
  const double t18 = t12 * t12;
  const double t24 = fma(fma(1.589618846238677e-10, t18, -2.505074706490216e-08), t18,
      2.7557313617071445e-06);
  const double t28 = fma(fma(t24, t18, -0.00019841269829577542), t18, 0.008333333333322104);
  const double t37 = fma(fma(-1.1358507268160331e-11, t18, 2.0875700290268336e-09), t18,
      -2.7557314175339826e-07);
  const double t41 = fma(fma(t37, t18, 2.4801587288838378e-05), t18, -0.0013888888888873036);
  const double t47 = fma(t18, fma(t18, fma(t41, t18, 0.041666666666666595), -0.5), 1.0);
  const double t52 = ((t15 & 0x1ull) == 0x0ull) ? (t12 + fma(t12 * t18, fma(t28, t18,
      -0.1666666666666663), t17)) : t47;
  const double value = (size > 1073741824.0) ? sin_large(size) :
      bits_as<double>(bits_as<u64>(t52) ^ ((t15 & 0x2ull) << 62));
  const u64 t65 = bits_as<u64>(value) ^ (bits_as<u64>(x) & 0x8000000000000000ull);
  return bits_as<double>(t65);
}

// The cosine of x radians.
GB_FN float cos(float x) {
  GB_ENTER
  const float size = fabs(x);
  const float t4 = fma(size, 0.63661975f, 12582912.0f);
  const float t5 = t4 - 12582912.0f;
  const float t7 = fma(t5, -1.5707964f, size);
  const float t10 = t7 + (t5 * 4.371139e-08f);
  const u32 t17 = bits_as<u32>(t4) + 0x1u;
  const float t18 = t10 * t10;
  const float t24 = fma(fma(-0.00019507276f, t18, 0.008332103f), t18, -0.16666654f);
  const float t25 = fma(t10 * t18, t24, fma(t5, 1.7151245e-15f, fma(t5, 4.371139e-08f, t7 -
      t10)));
  const float t31 = fma(fma(2.4424027e-05f, t18, -0.0013887237f), t18, 0.041666646f);
  const float t39 = ((t17 & 0x1u) == 0x0u) ? (t10 + t25) : fma(t18, fma(t18, t31, -0.5f),
      1.0f);
  const float value = bits_as<float>(bits_as<u32>(t39) ^ ((t17 & 0x2u) << 30));
  return (size > 131072.0f) ? cos_large(size) : value;
}

// The cosine of x radians.
GB_FN double cos(double x) {
  GB_ENTER
  const double size = fabs(x);
  const double t4 = fma(size, 0.6366197723675814, 6755399441055744.0);
  const double t5 = t4 - 6755399441055744.0;
  const double t7 = fma(t5, -1.5707963267948966, size);
  const double t10 = t7 + (t5 * (-6.123233995736766e-17));
  const double t15 = fma(t5, 1.4973849048591698e-33, fma(t5, -6.123233995736766e-17, t7 -
      t10));
  const u64 t17 = bits_as<u64>(t4) + 0x1ull;
  const double t18 = t10 * t10;
  const double t24 = fma(fma(1.589618846238677e-10, t18, -2.505074706490216e-08), t18,
      2.7557313617071445e-06);
  const double t28 = fma(fma(t24, t18, -0.00019841269829577542), t18, 0.008333333333322104);
  const double t37 = fma(fma(-1.1358507268160331e-11, t18, 2.0875700290268336e-09), t18,
      -2.7557314175339826e-07);
  const double t41 = fma(fma(t37, t18, 2.4801587288838378e-05), t18, -0.0013888888888873036);
  const double t47 = fma(t18, fma(t18, fma(t41, t18, 0.041666666666666595), -0.5), 1.0);
  const double t51 = ((t17 & 0x1ull) == 0x0ull) ? (t10 + fma(t10 * t18, fma(t28, t18,
      -0.1666666666666663), t15)) : t47;
  const double value = bits_as<double>(bits_as<u64>(t51) ^ ((t17 & 0x2ull) << 62));
  return (size > 1073741824.0) ? cos_large(size) : value;
}

// The tangent of x radians.
GB_FN float tan(float x) {
  GB_ENTER
  const float size = fabs(x);
  const float t6 = fma(size, 0.63661975f, 12582912.0f);
  const float t7 = t6 - 12582912.0f;
  const float t9 = fma(t7, -1.5707964f, size);
  const float t12 = t9 + (t7 * 4.371139e-08f);
  const float t17 = fma(t7, 1.7151245e-15f, fma(t7, 4.371139e-08f, t9 - t12));
  const float t18 = t12 * t12;
  const float t24 = fma(fma(0.0045111575f, t18, -0.0001797257f), t18, 0.011044622f);
  const float t30 = fma(fma(fma(t24, t18, 0.021203144f), t18, 0.054074906f), t18,
      0.13332534f);
  const float t35 = ((t12 * t18) * fma(t30, t18, 0.33333352f)) + fma(t17, t18, t17);
  const float t36 = t12 + t35;
  const float t40 = 1.0f / t36;
  const float t41 = -t40;
  const float t44 = fma(fma(t41, t35 - (t36 - t12), fma(t41, t36, 1.0f)), t40, t40);
  const float value = (size > 131072.0f) ? tan_large(size) : (((bits_as<u32>(t6) & 0x1u) ==
      0x0u) ? t36 : (-t44));
  const float t57 = bits_as<float>(bits_as<u32>(value) ^ (bits_as<u32>(x) & 0x80000000u));
  return t57;
}

// The tangent of x radians.
GB_FN double tan(double x) {
  GB_ENTER
  const double size = fabs(x);
  const double t6 = fma(size, 0.6366197723675814, 6755399441055744.0);
  const double t7 = t6 - 6755399441055744.0;
  const double t9 = fma(t7, -1.5707963267948966, size);
  const double t12 = t9 + (t7 * (-6.123233995736766e-17));
  const double t17 = fma(t7, 1.4973849048591698e-33, fma(t7, -6.123233995736766e-17, t9 -
      t12));
  const double t18 = t12 * t12;
  const double t24 = fma(fma(2.086355472400142e-05, t18, -4.487767764480369e-05), t18,
      8.94541546882635e-05);
  const double t28 = fma(fma(t24, t18, -2.6387786888996965e-05), t18, 0.0001365263440280703);
  const double t32 = fma(fma(t28, t18, 0.0002223796624567483), t18, 0.0005950646786392932);
  const double t36 = fma(fma(t32, t18, 0.0014547580152333274), t18, 0.0035922890654873784);
  const double t40 = fma(fma(t36, t18, 0.008863219166268598), t18, 0.021869489608824844);
  const double t44 = fma(fma(t40, t18, 0.05396825392667641), t18, 0.13333333333414604);
  const double t49 = ((t12 * t18) * fma(t44, t18, 0.33333333333332776)) + fma(t17, t18, t17);
  const double t50 = t12 + t49;
  const double t54 = 1.0 / t50;
  const double t55 = -t54;
  const double t58 = fma(fma(t55, t49 - (t50 - t12), fma(t55, t50, 1.0)), t54, t54);
  const double value = (size > 1073741824.0) ? tan_large(size) : (((bits_as<u64>(t6) &
      0x1ull) == 0x0ull) ? t50 : (-t58));
  const u64 t70 = bits_as<u64>(value) ^ (bits_as<u64>(x) & 0x8000000000000000ull);
  return bits_as<double>(t70);
}

// The arc sine: beyond 1/2, pi/2 - 2 asin(sqrt((1 - |x|) / 2)).
GB_FN float asin(float x) {
  GB_ENTER
  const float size = fabs(x);
  const bool small = size <= 0.5f;
  const float t = small ? size : sqrt((1.0f - size) * 0.5f);
  const float factor = small ? 1.0f : (-2.0f);
  const float t11 = t * t;
  const float t19 = fma(fma(fma(0.04216646f, t11, 0.02417942f), t11, 0.045470398f), t11,
      0.074952975f);
  const float rest = (t * t11) * fma(t19, t11, 0.16666752f);
  const float t27 = small ? 0.0f : 1.5707964f;
  const float t29 = t * factor;
  const float t31 = t27 + t29;
  const float t35 = (t29 - (t31 - t27)) + ((rest * factor) + (small ? (-0.0f) :
      (-4.371139e-08f)));
  const u32 t42 = bits_as<u32>(fabs(t31 + t35)) | (bits_as<u32>(x) & 0x80000000u);
  return bits_as<float>(t42);
}

// The arc sine: beyond 1/2, pi/2 - 2 asin(sqrt((1 - |x|) / 2)).
GB_FN double asin(double x) {
  GB_ENTER
  const double size = fabs(x);
  const bool small = size <= 0.5;
  const double t = small ? size : sqrt((1.0 - size) * 0.5);
  const double factor = small ? 1.0 : (-2.0);
  const double t11 = t * t;
  const double t17 = fma(fma(0.03191234513001081, t11, -0.01622438351271984), t11,
      0.019528364185670166);
  const double t21 = fma(fma(t17, t11, 0.006527932307165793), t11, 0.012169223431883905);
  const double t25 = fma(fma(t21, t11, 0.01388523334091173), t11, 0.017359705016335148);
  const double t29 = fma(fma(t25, t11, 0.022371758030867217), t11, 0.03038195913790697);
  const double t33 = fma(fma(t29, t11, 0.0446428568283029), t11, 0.07500000000337045);
  const double rest = (t * t11) * fma(t33, t11, 0.16666666666665408);
  const double t40 = small ? 0.0 : 1.5707963267948966;
  const double t42 = t * factor;
  const double t44 = t40 + t42;
  const double t48 = (t42 - (t44 - t40)) + ((rest * factor) + (small ? 0.0 :
      6.123233995736766e-17));
  const u64 t55 = bits_as<u64>(fabs(t44 + t48)) | (bits_as<u64>(x) & 0x8000000000000000ull);
  return bits_as<double>(t55);
}

// The arc cosine: pi/2 - asin(x), beyond 1/2 twice the arc sine of sqrt((1 - |x|) / 2).
GB_FN float acos(float x) {
  GB_ENTER
  const float size = fabs(x);
  const bool small = size <= 0.5f;
  const float t = small ? x : sqrt((1.0f - size) * 0.5f);
  const bool t10 = x < 0.0f;
  const float outer = t10 ? (-2.0f) : 2.0f;
  const float factor = small ? (-1.0f) : outer;
  const float t16 = t * t;
  const float t24 = fma(fma(fma(0.04216646f, t16, 0.02417942f), t16, 0.045470398f), t16,
      0.074952975f);
  const float rest = (t * t16) * fma(t24, t16, 0.16666752f);
  const float t35 = small ? 1.5707964f : (t10 ? 3.1415927f : 0.0f);
  const float t37 = t * factor;
  const float t39 = t35 + t37;
  const float t42 = (rest * factor) + (small ? (-4.371139e-08f) : (t10 ? (-8.742278e-08f) :
      (-0.0f)));
  return t39 + ((t37 - (t39 - t35)) + t42);
}

// The arc cosine: pi/2 - asin(x), beyond 1/2 twice the arc sine of sqrt((1 - |x|) / 2).
GB_FN double acos(double x) {
  GB_ENTER
  const double size = fabs(x);
  const bool small = size <= 0.5;
  const double t = small ? x : sqrt((1.0 - size) * 0.5);
  const bool t10 = x < 0.0;
  const double outer = t10 ? (-2.0) : 2.0;
  const double factor = small ? (-1.0) : outer;
  const double t16 = t * t;
  const double t22 = fma(fma(0.03191234513001081, t16, -0.01622438351271984), t16,
      0.019528364185670166);
  const double t26 = fma(fma(t22, t16, 0.006527932307165793), t16, 0.012169223431883905);
  const double t30 = fma(fma(t26, t16, 0.01388523334091173), t16, 0.017359705016335148);
  const double t34 = fma(fma(t30, t16, 0.022371758030867217), t16, 0.03038195913790697);
  const double t38 = fma(fma(t34, t16, 0.0446428568283029), t16, 0.07500000000337045);
  const double rest = (t * t16) * fma(t38, t16, 0.16666666666665408);
  const double t48 = small ? 1.5707963267948966 : (t10 ? 3.141592653589793 : 0.0);
  const double t49 = small ? 6.123233995736766e-17 : (t10 ? 1.2246467991473532e-16 : 0.0);
  const double t50 = t * factor;
  const double t52 = t48 + t50;
  return t52 + ((t50 - (t52 - t48)) + ((rest * factor) + t49));
}

// The arc tangent: beyond 1, pi/2 - atan(1 / |x|).
GB_FN float atan(float x) {
  GB_ENTER
  const float size = fabs(x);
  const bool large = size > 1.0f;
  const float t8 = large ? 1.5707964f : 0.0f;
  const float t12 = large ? ((-1.0f) / size) : size;
  const float t13 = t12 * t12;
  const float t19 = fma(fma(-0.0017936063f, t13, 0.010914535f), t13, -0.03117771f);
  const float t25 = fma(fma(fma(t19, t13, 0.05795745f), t13, -0.08403442f), t13, 0.10952183f);
  const float t31 = fma(fma(fma(t25, t13, -0.14264241f), t13, 0.19998549f), t13, -0.333333f);
  const float t33 = t8 + t12;
  const float t37 = (t12 - (t33 - t8)) + (((t12 * t13) * t31) + (large ? (-4.371139e-08f) :
      (-0.0f)));
  const u32 t44 = bits_as<u32>(fabs(t33 + t37)) | (bits_as<u32>(x) & 0x80000000u);
  return bits_as<float>(t44);
}

// The arc tangent: beyond 1, pi/2 - atan(1 / |x|).
GB_FN double atan(double x) {
  GB_ENTER
  const double size = fabs(x);
  const bool large = size > 1.0;
  const double t7 = large ? 1.5707963267948966 : 0.0;
  const double t11 = large ? ((-1.0) / size) : size;
  const double t12 = t11 * t11;
  const double t18 = fma(fma(1.3224973784939363e-05, t12, -0.0001521598450220418), t12,
      0.0008313171313544376);
  const double t22 = fma(fma(t18, t12, -0.0028849051358328993), t12, 0.007196477510824941);
  const double t26 = fma(fma(t22, t12, -0.013900524349802936), t12, 0.021984816285083874);
  const double t30 = fma(fma(t26, t12, -0.029903829365154), t12, 0.03664189344168028);
  const double t34 = fma(fma(t30, t12, -0.04219178156491785), t12, 0.047223219412596815);
  const double t38 = fma(fma(t34, t12, -0.052535184830814895), t12, 0.05880527802294855);
  const double t42 = fma(fma(t38, t12, -0.06666404056245334), t12, 0.07692279839246534);
  const double t46 = fma(fma(t42, t12, -0.09090907003000012), t12, 0.11111111007027519);
  const double t50 = fma(fma(t46, t12, -0.1428571428257519), t12, 0.19999999999951462);
  const double t54 = t7 + t11;
  const double t57 = ((t11 * t12) * fma(t50, t12, -0.3333333333333307)) + (large ?
      6.123233995736766e-17 : 0.0);
  const u64 t65 = bits_as<u64>(fabs(t54 + ((t11 - (t54 - t7)) + t57))) | (bits_as<u64>(x) &
      0x8000000000000000ull);
  return bits_as<double>(t65);
}

// The angle of the point (x, y): an arc tangent of at most 1, then its octant.
GB_FN float atan2(float y, float x) {
  GB_ENTER
  const float size_x = fabs(x);
  const float size_y = fabs(y);
  const bool steep = size_y > size_x;
  const float low = steep ? size_x : size_y;
  const float high = steep ? size_y : size_x;
  const float t = (low == high) ? ((low == 0.0f) ? low : 1.0f) : (low / high);
  const u32 t19 = bits_as<u32>(x) & 0x80000000u;
  const float turned = bits_as<float>(bits_as<u32>(steep ? (-t) : t) ^ t19);
  const bool t23 = t19 == 0x0u;
  const float t31 = steep ? 1.5707964f : (t23 ? 0.0f : 3.1415927f);
  const float t33 = turned * turned;
  const float t39 = fma(fma(-0.0017936063f, t33, 0.010914535f), t33, -0.03117771f);
  const float t45 = fma(fma(fma(t39, t33, 0.05795745f), t33, -0.08403442f), t33, 0.10952183f);
  const float t51 = fma(fma(fma(t45, t33, -0.14264241f), t33, 0.19998549f), t33, -0.333333f);
  const float t53 = t31 + turned;
  const float t56 = ((turned * t33) * t51) + (steep ? (-4.371139e-08f) : (t23 ? (-0.0f) :
      (-8.742278e-08f)));
  const u32 t63 = bits_as<u32>(fabs(t53 + ((turned - (t53 - t31)) + t56))) | (bits_as<u32>(y)
      & 0x80000000u);
  return bits_as<float>(t63);
}

// The angle of the point (x, y): an arc tangent of at most 1, then its octant.
GB_FN double atan2(double y, double x) {
  GB_ENTER
  const double size_x = fabs(x);
  const double size_y = fabs(y);
  const bool steep = size_y > size_x;
  const double low = steep ? size_x : size_y;
  const double high = steep ? size_y : size_x;
  const double t = (low == high) ? ((low == 0.0) ? low : 1.0) : (low / high);
  const u64 t19 = bits_as<u64>(x) & 0x8000000000000000ull;
  const double turned = bits_as<double>(bits_as<u64>(steep ? (-t) : t) ^ t19);
  const bool t23 = t19 == 0x0ull;
  const double t30 = steep ? 1.5707963267948966 : (t23 ? 0.0 : 3.141592653589793);
  const double t31 = steep ? 6.123233995736766e-17 : (t23 ? 0.0 : 1.2246467991473532e-16);
  const double t32 = turned * turned;
  const double t38 = fma(fma(1.3224973784939363e-05, t32, -0.0001521598450220418), t32,
      0.0008313171313544376);
  const double t42 = fma(fma(t38, t32, -0.0028849051358328993), t32, 0.007196477510824941);
  const double t46 = fma(fma(t42, t32, -0.013900524349802936), t32, 0.021984816285083874);
  const double t50 = fma(fma(t46, t32, -0.029903829365154), t32, 0.03664189344168028);
  const double t54 = fma(fma(t50, t32, -0.04219178156491785), t32, 0.047223219412596815);
  const double t58 = fma(fma(t54, t32, -0.052535184830814895), t32, 0.05880527802294855);
  const double t62 = fma(fma(t58, t32, -0.06666404056245334), t32, 0.07692279839246534);
  const double t66 = fma(fma(t62, t32, -0.09090907003000012), t32, 0.11111111007027519);
  const double t70 = fma(fma(t66, t32, -0.1428571428257519), t32, 0.19999999999951462);
  const double t74 = t30 + turned;
  const double t78 = (turned - (t74 - t30)) + (((turned * t32) * fma(t70, t32,
      -0.3333333333333307)) + t31);
  const u64 t84 = bits_as<u64>(fabs(t74 + t78)) | (bits_as<u64>(y) & 0x8000000000000000ull);
  return bits_as<double>(t84);
}

}  // namespace gb

#endif
