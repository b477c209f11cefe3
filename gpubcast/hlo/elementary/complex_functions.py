"""Exponentials, logarithms, roots, powers, sines and tangents of complex numbers.

Made of the real functions, so that errors are small beside the modulus of the result. Where a part
of an operand is infinite or NaN, results are XLA's, but for what ``docs/rules.md`` says of corners.
"""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import copysign, either, is_nan
from gpubcast.hlo.elementary.complex_arithmetic import SCALE, is_infinite, scaled_modulus, times
from gpubcast.hlo.elementary.formula import Pair, call, formula
from gpubcast.hlo.elementary.values import F32, F64, FormulaValue, fma, select, sqrt, to_float

# From here on e^x is e^(x - STEP) e^STEP, twice if need be, so that x may be larger than the
# largest number's logarithm where the other factor is small. Beyond ALL the product of e^x and the
# smallest number is infinite.
NEARLY_ALL = {F32: 80.0, F64: 700.0}
STEP = {F32: 64.0, F64: 512.0}
ALL = {F32: 200.0, F64: 1500.0}
# The same of 2^x in F64, in one step.
NEARLY_ALL_OF_2, STEP_OF_2, ALL_OF_2 = 1000.0, 1000.0, 2200.0
# log 2 in two parts.
LN2 = (0.6931471805599453, 2.3190468138462996e-17)
# From here on tanh x is 1, but for what rounding takes away.
FLAT = {F32: 10.0, F64: 20.0}


def stepped(x: FormulaValue) -> tuple[FormulaValue, FormulaValue, FormulaValue]:
    """x up to ALL, less a step or two where it is nearly the largest logarithm or more; and e to
    each step. No part is infinite, so that a product with a zero is that zero."""
    machine_type = x.machine_type
    rest = select(x > ALL[machine_type], ALL[machine_type], x)
    steps = []
    for _ in range(2):
        large = rest > NEARLY_ALL[machine_type]
        rest = select(large, rest - STEP[machine_type], rest)
        steps.append(select(large, x.constant(math.exp(STEP[machine_type])), 1.0))
    return rest, steps[0], steps[1]


def hyperbolic(x: FormulaValue) -> tuple[FormulaValue, FormulaValue]:
    """cosh and sinh of x >= 0 from one exponential."""
    t = call("expm1", x)
    power = t + 1.0
    inverse = 1.0 / power
    ratio = select(t > 2.0**100, 1.0, t * inverse)
    return 0.5 * (power + inverse), 0.5 * (t + ratio)


def turned(z: Pair) -> Pair:
    """i z."""
    return Pair(-z.im, z.re)


def turned_back(z: Pair) -> Pair:
    """-i z."""
    return Pair(z.im, -z.re)


def real_axis(z: Pair, value: FormulaValue) -> FormulaValue:
    """The imaginary part of a function that is real on the real axis: its zero there, also beside
    NaN."""
    return select(z.im == 0.0, z.im, value)


@formula("exp", F32, F64, complex=True)
def exp(z: Pair) -> Pair:
    """e^re (cos im + i sin im)."""
    rest, *steps = stepped(z.re)
    size = call("exp", rest)
    re, im = size * call("cos", z.im), size * call("sin", z.im)
    for step in steps:
        re, im = re * step, im * step
    return Pair(re, real_axis(z, im))


@formula("exp2", F64, complex=True)
def exp2(z: Pair) -> Pair:
    """2^re (cos + i sin)(im log 2); the angle is a sum of two, of which the second is the rounding
    error of the first, as long as it says anything of the angle."""
    high = z.im * LN2[0]
    low = fma(z.im, LN2[0], -high) + z.im * LN2[1]
    low = select(abs(high) < 2.0**105, low, 0.0)
    cosine, sine = call("cos", high), call("sin", high)
    turn_re, turn_im = call("cos", low), call("sin", low)
    unit = Pair(
        fma(-sine, turn_im, cosine * turn_re),
        fma(cosine, turn_im, sine * turn_re),
    )
    rest = select(z.re > ALL_OF_2, ALL_OF_2, z.re)
    large = rest > NEARLY_ALL_OF_2
    size = call("exp2", 0.5 * select(large, rest - STEP_OF_2, rest))
    found = times(size, times(size, times(select(large, size.constant(2.0**STEP_OF_2), 1.0), unit)))
    return Pair(found.re, real_axis(z, found.im))


@formula("exp2", F32, complex=True)
def exp2_f32(z: Pair) -> Pair:
    """The same in f64: the angle's error would be large beside the result."""
    found = call("exp2", Pair(*(to_float(part, F64) for part in z)))
    return Pair(*(to_float(part, F32) for part in found))


@formula("expm1", F32, F64, complex=True)
def expm1(z: Pair) -> Pair:
    """e^re (cos im + i sin im) - 1, accurate near 0: expm1(re) cos im - 2 sin(im / 2)^2."""
    power = call("exp", z)
    half = call("sin", 0.5 * z.im)
    re = fma(call("expm1", z.re), call("cos", z.im), -2.0 * half * half)
    re = select(z.re > NEARLY_ALL[z.re.machine_type], power.re, re)
    return Pair(re, power.im)


def log_modulus(z: Pair) -> FormulaValue:
    """The logarithm of the modulus, accurate where that is near 1."""
    w = scaled_modulus(z)
    a, b = abs(z.re), abs(z.im)
    large, small = either(a < b, (b, a), (a, b))
    square = w.modulus * w.modulus
    near = (large < 2.0) & (square > 0.5) & (square < 3.0)
    here = 0.5 * call("log1p", fma(large - 1.0, large + 1.0, small * small))
    none = z.re.constant(0.0)
    exponent = math.log(SCALE[z.re.machine_type])
    offset = select(w.above, exponent, select(w.below, -exponent, none))
    return select(near, here, call("log", w.modulus) + offset)


@formula("log", F32, F64, complex=True)
def log(z: Pair) -> Pair:
    """The logarithm of the modulus, and the angle."""
    return Pair(log_modulus(z), call("atan2", z.im, z.re))


@formula("log2", F32, F64, complex=True)
def log2(z: Pair) -> Pair:
    """The logarithm divided by that of 2."""
    return times(z.re.constant(1 / math.log(2)), call("log", z))


@formula("log10", F32, F64, complex=True)
def log10(z: Pair) -> Pair:
    """The logarithm divided by that of 10."""
    return times(z.re.constant(1 / math.log(10)), call("log", z))


@formula("log1p", F32, F64, complex=True)
def log1p(z: Pair) -> Pair:
    """log(1 + z), accurate near 0."""
    moved = Pair(z.re + 1.0, z.im)
    near = (abs(z.re) < 0.5) & (abs(z.im) < 0.5)
    here = 0.5 * call("log1p", fma(z.re, z.re + 2.0, z.im * z.im))
    return Pair(select(near, here, log_modulus(moved)), call("atan2", z.im, moved.re))


@formula("logistic", F32, F64, complex=True)
def logistic(z: Pair) -> Pair:
    """1 / (1 + w) for re >= 0 and w / (1 + w) below, where w = e^-z or e^z is at most 1."""
    left = z.re < 0.0
    down = -abs(z.re)
    size, cosine = call("exp", down), call("cos", z.im)
    turn = call("sin", z.im)
    w = Pair(size * cosine, size * select(left, turn, -turn))
    half = call("cos", 0.5 * z.im)
    # Near the poles 1 + w is made of what it is near 0.
    re = select(w.re < -0.5, 2.0 * half * half + call("expm1", down) * cosine, w.re + 1.0)
    one, zero = re.constant(1.0), re.constant(0.0)
    top = Pair(*either(left, w, (one, zero)))
    scale = 1.0 / fma(re, re, w.im * w.im)
    return Pair(
        fma(top.re, re, top.im * w.im) * scale,
        fma(top.im, re, -(top.re * w.im)) * scale,
    )


@formula("complex_sqrt", F32, F64, complex=True)
def complex_sqrt(z: Pair) -> Pair:
    """The root in the right half plane, from sqrt((modulus + |re|) / 2)."""
    w = scaled_modulus(z)
    major = w.undo(sqrt(0.5 * (w.modulus + abs(w.z.re))), math.sqrt)
    # A small imaginary part beside a large real one would be lost in the scaled number.
    minor = abs(z.im) / (major + major)
    re, im = either(w.z.re < 0.0, (minor, major), (major, minor))
    zero, infinite = w.modulus == 0.0, is_infinite(z.im)
    nothing, infinity = re.constant(0.0), re.constant(math.inf)
    re, im = either(zero, (nothing, nothing), (re, im))
    re, im = either(infinite, (infinity, infinity), (re, im))
    return Pair(re, copysign(im, z.im))


@formula("rsqrt", F32, F64, complex=True)
def rsqrt(z: Pair) -> Pair:
    """1 / sqrt(z): the conjugate of the root divided by the modulus."""
    w = scaled_modulus(z)
    major = sqrt(0.5 * (w.modulus + abs(w.z.re)))
    minor = 0.5 * abs(w.z.im) / major
    re, im = either(w.z.re < 0.0, (minor, major), (major, minor))
    re, im = (w.undo(part / w.modulus, lambda power: 1 / math.sqrt(power)) for part in (re, im))
    nothing, infinity = re.constant(0.0), re.constant(math.inf)
    nan = re.constant(math.nan)
    infinite = is_infinite(z.re) | is_infinite(z.im)
    re, im = either(infinite, (nothing, nothing), (re, im))
    re, im = either(w.modulus == 0.0, (infinity, nan), (re, im))
    return Pair(re, copysign(im, -z.im))


@formula("cbrt", F32, F64, complex=True)
def cbrt(z: Pair) -> Pair:
    """The root of a third of the angle."""
    w = scaled_modulus(z)
    size = w.undo(call("cbrt", w.modulus), lambda power: 2.0 ** round(math.log2(power) / 3))
    angle = call("atan2", z.im, z.re) * (1 / 3)
    return times(size, Pair(call("cos", angle), call("sin", angle)))


@formula("sinh", F32, F64, complex=True)
def sinh(z: Pair) -> Pair:
    """sinh re cos im + i cosh re sin im."""
    rest, *steps = stepped(abs(z.re))
    wide, narrow = hyperbolic(rest)
    re, im = copysign(narrow, z.re) * call("cos", z.im), wide * call("sin", z.im)
    for step in steps:
        re, im = re * step, im * step
    return Pair(re, real_axis(z, im))


@formula("cosh", F32, F64, complex=True)
def cosh(z: Pair) -> Pair:
    """cosh re cos im + i sinh re sin im."""
    rest, *steps = stepped(abs(z.re))
    wide, narrow = hyperbolic(rest)
    re, im = wide * call("cos", z.im), copysign(narrow, z.re) * call("sin", z.im)
    for step in steps:
        re, im = re * step, im * step
    return Pair(re, select(is_nan(z.re), real_axis(z, im), im))


@formula("sin", F32, F64, complex=True)
def sin(z: Pair) -> Pair:
    """-i sinh(i z)."""
    return turned_back(call("sinh", turned(z)))


@formula("cos", F32, F64, complex=True)
def cos(z: Pair) -> Pair:
    """cosh(i z)."""
    found: Pair = call("cosh", turned(z))
    return found


@formula("tanh", F32, F64, complex=True)
def tanh(z: Pair) -> Pair:
    """(sinh re cosh re + i sin im cos im) / (cos(im)^2 + sinh(re)^2)."""
    flat = FLAT[z.re.machine_type]
    size = abs(z.re)
    wide, narrow = hyperbolic(select(size > flat, flat, size))
    cosine, both = call("cos", z.im), call("sin", z.im)
    below = fma(narrow, narrow, cosine * cosine)
    re, im = narrow * wide / below, both * cosine / below
    far = 4.0 * both * cosine * call("exp", -2.0 * size)
    one = re.constant(1.0)
    known = is_infinite(size) & (far != far)
    far = select(known, 0.0, far)
    spoilt = (both != both) & ~is_infinite(size)
    re, im = either(size > flat, (select(spoilt, both, one), far), (re, im))
    return Pair(copysign(re, z.re), select(z.im == 0.0, z.im, im))


@formula("tan", F32, F64, complex=True)
def tan(z: Pair) -> Pair:
    """-i tanh(i z)."""
    return turned_back(call("tanh", turned(z)))


@formula("pow", F64, complex=True)
def pow(x: Pair, y: Pair) -> Pair:
    """e^(y log x); x ** 0 and 1 ** y are 1."""
    size, angle = log_modulus(x), call("atan2", x.im, x.re)
    found = call("exp", Pair(y.re * size - y.im * angle, y.im * size + y.re * angle))
    one, zero = size.constant(1.0), size.constant(0.0)
    real = (x.im == 0.0) & (y.im == 0.0)
    infinity = select(y.re > 0.0, x.re, zero)
    found = Pair(*either(real & (x.re == math.inf) & (y.re == y.re), (infinity, zero), found))
    found = Pair(*either(real & (x.re == 0.0) & (y.re > 0.0), (zero, zero), found))
    simple = ((y.re == 0.0) & (y.im == 0.0)) | ((x.re == 1.0) & (x.im == 0.0))
    return Pair(*either(simple, (one, zero), found))


@formula("pow", F32, complex=True)
def pow_f32(x: Pair, y: Pair) -> Pair:
    """The power in f64: the exponent's error would be large beside the result."""
    wide = [Pair(*(to_float(part, F64) for part in z)) for z in (x, y)]
    found = call("pow", *wide)
    return Pair(*(to_float(part, F32) for part in found))
