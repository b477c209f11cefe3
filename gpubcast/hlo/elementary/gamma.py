"""The logarithm of gamma and its derivative."""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import (
    either,
    fast_two_sum,
    polynomial,
    two_product,
    two_sum,
)
from gpubcast.hlo.elementary.formula import formula
from gpubcast.hlo.elementary.steps import log_parts, signed
from gpubcast.hlo.elementary.values import F32, F64, FormulaValue, MachineType, fma, rint, select

INF, NAN = math.inf, math.nan

# lgamma(2 + d) / d on |d| <= 1/2, degree 8 (F32) and 17 (F64), and the rest of the first
# coefficient.
GAMMA: dict[MachineType, tuple[float, ...]] = {
    F32: (
        *(0.422784328, 0.322467029, -0.0673521161, 0.02058121, -0.00738992915),
        *(0.00288256304, -0.00116152258, 0.000561239431, -0.00030258231),
    ),
    F64: (
        *(0.42278433509846713, 0.3224670334241133, -0.06735230105319635, 0.020580808427762484),
        *(-0.007385551028896697, 0.00289051033211252, -0.001192753901925129),
        *(0.0005096694870965465, -0.0002231549659356592, 9.945806274628894e-05),
        *(-4.492380756670971e-05, 2.0502577393763665e-05, -9.455977620550951e-06),
        *(4.397935839387542e-06, -1.974939780123102e-06, 8.893123093381746e-07),
        *(-5.806152196056352e-07, 3.080896332705301e-07),
    ),
}
GAMMA_REST = {F32: 6.63777e-09, F64: 4.942915152430645e-18}
# z (lgamma(z) - (z - 1/2)(ln z - 1) - (ln(2 pi) - 1) / 2) in 1 / z^2 for z >= 3.5, degree 3 (F32)
# and 10 (F64).
STIRLING: dict[MachineType, tuple[float, ...]] = {
    F32: (0.0833333358, -0.00277793151, 0.000793867162, -0.00052164396),
    F64: (
        *(0.08333333333333331, -0.0027777777777570757, 0.0007936507867864125),
        *(-0.0005952370376343989, 0.0008416592516054223, -0.001912586968411943),
        *(0.0062335684698658, -0.02516996814944383, 0.1011073969815977),
        *(-0.3083401779043376, 0.4830295187035231),
    ),
}
# (ln(2 pi) - 1) / 2
STIRLING_CONSTANT = {
    F32: (0.41893855, -1.41681453e-08),
    F64: (0.4189385332046727, 1.6728209650585413e-17),
}
# (sin(pi r) / (pi r) - 1) / r^2 in r^2 on |r| <= 1/2, degree 4 (F32) and 7 (F64).
SINE: dict[MachineType, tuple[float, ...]] = {
    F32: (-1.64493406, 0.811742008, -0.190745354, 0.0261044297, -0.0022146916),
    F64: (
        *(-1.6449340668482264, 0.8117424252833467, -0.19075182412170458, 0.02614784780852221),
        *(-0.0023460809189509934, 0.00014842794580950888, -6.972343907281148e-06),
        *(2.4526351676234745e-07,),
    ),
}
# Below the first, sines are multiplied by the second, 2^third.
SINE_SCALE = {F32: (2.0**-100, 2.0**48, 48.0), F64: (2.0**-900, 2.0**128, 128.0)}


def _reflected(x: FormulaValue) -> tuple[FormulaValue, FormulaValue, FormulaValue, FormulaValue]:
    """Whether x < 1/2; then t = -x, else x - 1; and 1 + t with its rounding error."""
    reflect = x < 0.5
    t = select(reflect, -x, x - 1.0)
    z, z_low = two_sum(t, t.constant(1.0))
    # x itself where it is so large that x - 1 is rounded.
    return reflect, t, select(reflect, z, x), select(reflect, z_low, 0.0)


@formula("lgamma", F32, F64)
def lgamma(x: FormulaValue) -> FormulaValue:
    """ln |gamma(x)|. Below 1/2: ln(pi / |sin(pi x)|) - lgamma(1 - x). From 3.5 on Stirling's
    series, between a polynomial around 2 and the logarithm of the factor that leads there."""
    reflect, t, z, z_low = _reflected(x)
    large = t >= 2.5
    low_part, high_part = t < 0.5, t >= 1.5
    # lgamma(z) = factor (ln(argument) - less) + other
    argument = select(large | low_part, z, select(high_part, t, 1.0))
    high, low = log_parts(argument, select(low_part, z_low, 0.0))
    high, low = fast_two_sum(high, low)
    steep = high
    less, less_low = fast_two_sum(high, x.constant(-1.0))
    high, low = select(large, less, high), select(large, less_low + low, low)
    above, above_low = fast_two_sum(z, z.constant(-0.5))
    factor = select(large, above, select(low_part, x.constant(-1.0), 1.0))
    d = t - select(low_part, 0.0, select(high_part, x.constant(2.0), 1.0))
    inverse = 1.0 / z
    series = inverse * polynomial(inverse * inverse, STIRLING[x.machine_type])
    first, *others = GAMMA[x.machine_type]
    slope, slope_low = fast_two_sum(x.constant(first), d * polynomial(d, others))
    other, other_low = two_product(d, slope)
    other_low = fma(d, slope_low + GAMMA_REST[x.machine_type], other_low)
    constant, constant_low = STIRLING_CONSTANT[x.machine_type]
    other = select(large, constant, other)
    # Of a large z, half of which is more than its last place, z - 1/2 is rounded.
    lost = fma(above_low, high, fma(steep, z_low, series + constant_low))
    other_low = select(large, lost, other_low)
    product, product_low = two_product(factor, high)
    value, value_low = two_sum(product, other)
    value_low = value_low + fma(factor, low, product_low) + other_low
    # -ln(pi / |sin(pi x)|)
    r = abs(x - rint(x))
    square = r * r
    sine, sine_low = fast_two_sum(
        x.constant(1.0), square * polynomial(square, SINE[x.machine_type])
    )
    tiny, up, shift = SINE_SCALE[x.machine_type]
    small = r < tiny
    scaled = select(small, r * up, r)
    sine, error = two_product(scaled, sine)
    sine_low = fma(scaled, sine_low, error)
    log, log_low = log_parts(sine, sine_low, select(small, x.constant(-shift), 0.0))
    total, total_low = two_sum(log, value)
    total_low = total_low + log_low + value_low
    total = -(total + total_low)
    result = select(reflect, total, select(value < INF, value + value_low, value))
    pole = select(reflect, r, 1.0) == 0.0
    return select(pole | (abs(x) == INF), INF, result)


# The positive zero of digamma in two parts, and digamma(x) / (x - zero) in x - 1.5 on [1, 2.5],
# degree 11 (F32) and 25 (F64).
DIGAMMA_ZERO = {
    F32: (1.4616321325302124, 1.243815006546356e-08),
    F64: (1.4616321449683622, 9.549995429965697e-17),
}
DIGAMMA: dict[MachineType, tuple[float, ...]] = {
    F32: (
        *(0.951055884, -0.423627228, 0.240540773, -0.148412228, 0.0950352103, -0.0618653856),
        *(0.0403057933, -0.0268596224, 0.0195874013, -0.0139491828, 0.00691993721),
        *(-0.00155647076,),
    ),
    F64: (
        *(0.9510558760318328, -0.42362742128146014, 0.24054248424079333, -0.1484049230539977),
        *(0.09498872445226271, -0.06192213326575695, 0.04076083396163688, -0.026975797047041297),
        *(0.017907248098629987, -0.011908211390565429, 0.00792701943792574),
        *(-0.005280057865160276, 0.0035181934760308625, -0.002344424156005251),
        *(0.0015623547823508596, -0.001042644300980008, 0.0006973144404325667),
        *(-0.0004629337476598032, 0.0003006575864370396, -0.00019756774187144465),
        *(0.00014384347175563998, -0.00011132704378449644, 7.393006864170139e-05),
        *(-3.4679651498778426e-05, 9.761872964195006e-06, -1.2288386058293066e-06),
    ),
}
# z^2 (ln z - 1 / (2z) - digamma(z)) in 1 / z^2 for z >= 3.5, degree 3 (F32) and 10 (F64).
DIGAMMA_SERIES: dict[MachineType, tuple[float, ...]] = {
    F32: (0.0833333209, -0.00833169278, 0.00390187115, -0.00306745945),
    F64: (
        *(0.08333333333333223, -0.008333333332510292, 0.0039682537533984345),
        *(-0.0041666384641906975, 0.007573577317722308, -0.02098445421934614),
        *(0.07967547198824468, -0.3557684649248672, 1.5043439401451761),
        *(-4.67390991479891, 7.336447635371341),
    ),
}
PI_SQUARED = {
    F32: (9.869604, 2.90371585e-07),
    F64: (9.869604401089358, 6.265295508739711e-16),
}
# (sin(pi r) / (pi r) - 1) / r^2 and (cos(pi r) - 1) / r^2 in r^2 on |r| <= 1/4, degrees 2 and 3
# (F32), 5 and 6 (F64).
SINE_QUARTER: dict[MachineType, tuple[float, ...]] = {
    F32: (-1.64493287, 0.81162709, -0.187598586),
    F64: (
        *(-1.644934066848223, 0.8117424252823006, -0.19075182401257854, 0.02614784258902895),
        *(-0.002345954869779536, 0.0001469306784132575),
    ),
}
COSINE_QUARTER: dict[MachineType, tuple[float, ...]] = {
    F32: (-4.93480206, 4.05869627, -1.33473623, 0.228754982),
    F64: (
        *(-4.934802200544679, 4.058712126416665, -1.3352627688430894, 0.2353306297620729),
        *(-0.02580687517365156, 0.0019293401562399174, -0.00010298023444584312),
    ),
}


@formula("digamma", F32, F64)
def digamma(x: FormulaValue) -> FormulaValue:
    """The derivative of lgamma. Below 1/2: digamma(1 - x) - pi cot(pi x). From 3.5 on Stirling's
    series, between a polynomial on [1, 2.5] and at most one step of digamma(z + 1) - 1 / z."""
    reflect, t, z, _ = _reflected(x)
    below, above, large = t < 0.0, t >= 1.5, t >= 2.5
    root, root_low = DIGAMMA_ZERO[x.machine_type]
    y = select(below, t + 2.0, select(above, t, z))
    first, *others = DIGAMMA[x.machine_type]
    rise, rise_low = two_product(polynomial(y - 1.5, others), y - 1.5)
    slope, slope_low = fast_two_sum(x.constant(first), rise)
    gap, gap_low = fast_two_sum(y - root, x.constant(-root_low))
    near, error = two_product(gap, slope)
    error = error + fma(gap, slope_low + rise_low, gap_low * slope)
    divisor = select(large | below, z, select(above, t, 1.0))
    inverse = 1.0 / divisor
    step = select(below, -inverse, select(above, inverse, 0.0))
    near, near_low = two_sum(near, step)
    near_low = fma(fma(-inverse, divisor, 1.0), step, near_low + error)
    high, low = log_parts(select(large, z, 1.0))
    square = inverse * inverse
    series = fma(square, polynomial(square, DIGAMMA_SERIES[x.machine_type]), 0.5 * inverse)
    value, value_low = either(large, (high, low - series), (near, near_low))
    # pi cot(pi x), as a tangent where the cosine is small.
    r = x - rint(x)
    size = abs(r)
    far = size > 0.25
    q = select(far, 0.5 - size, size)
    square = q * q
    one, zero = x.constant(1.0), x.constant(0.0)
    unit, unit_low = (
        select(far, part, other)
        for part, other in zip(PI_SQUARED[x.machine_type], (one, zero), strict=True)
    )
    sine, sine_low = fast_two_sum(
        unit, unit * (square * polynomial(square, SINE_QUARTER[x.machine_type]))
    )
    sine, error = two_product(q, sine)
    sine_low = fma(q, sine_low + unit_low, error)
    cosine, cosine_low = fast_two_sum(
        one, square * polynomial(square, COSINE_QUARTER[x.machine_type])
    )
    above, above_low = either(far, (sine, sine_low), (cosine, cosine_low))
    below, below_low = either(far, (cosine, cosine_low), (sine, sine_low))
    inverse = 1.0 / below
    cotangent = above * inverse
    error = fma(-cotangent, below, above) + fma(-cotangent, below_low, above_low)
    sign = signed(one, r)
    total, total_low = two_sum(value, -cotangent * sign)
    total = total + fma(-error * inverse, sign, total_low + value_low)
    total = select(cotangent < INF, total, -cotangent * sign)
    result = select(reflect, total, value + value_low)
    pole = select(reflect, r, 1.0) == 0.0
    return select(pole, NAN, select(x == INF, INF, result))
