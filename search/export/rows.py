"""Sums over rows of numbers in C: in vectors where the compiler has them, else in plain loops.

They are the functions of `games.kernels.vectors`, with the same order of additions of floats. Each
is written out for its widths, so that the sums stay in registers.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["HEAD", "WRITTEN"]

#: Numbers in a vector of 32 bytes, and vectors that are summed together.
LANES = {"float": 8, "int16_t": 16}
MOST_VECTORS = 8
#: The beginning of a file that has such sums; `@` stands for the file's prefix.
HEAD = """
#if defined(__GNUC__) && !defined(PLAIN)
#define VECTORS
#define INLINE static inline __attribute__((always_inline))
typedef float @float_v __attribute__((vector_size(32), aligned(4), may_alias));
typedef int16_t @int16_t_v __attribute__((vector_size(32), aligned(2), may_alias));
typedef int32_t @int32_t_v __attribute__((vector_size(32), aligned(4), may_alias));
#if defined(__AVX2__)
#include <immintrin.h>
#include <string.h>
#define PAIRS
#define LOAD(place) _mm256_loadu_si256((const __m256i *)(const void *)(place))
#define STORE(place, vector) _mm256_storeu_si256((__m256i *)(void *)(place), vector)
#endif
#else
#define INLINE static inline
#endif
"""


def _chunks(kind: str, width: int) -> list[tuple[int, range]]:
    """Returns the first column of each piece of a row, and the numbers of its vectors."""
    lanes = LANES[kind]
    step = lanes * MOST_VECTORS
    return [
        (first, range(min(MOST_VECTORS, (width - first) // lanes)))
        for first in range(0, width, step)
    ]


def _at(kind: str, row: str, number: int, *, constant: bool = True) -> str:
    """Returns the vector with a number behind a pointer."""
    return f"*({'const ' * constant}@{kind}_v *)({row} + {LANES[kind] * number})"


def _sums(kind: str, name: str, width: int) -> str:
    """Returns `sum_rows` or `sum_shorts` for rows of a width."""
    lines = []
    for first, vectors in _chunks(kind, width):
        lines.append("    {")
        lines += [f"        @{kind}_v t{v} = {_at(kind, f'bias + {first}', v)};" for v in vectors]
        lines.append("        for (int64_t i = 0; i < count; i++) {")
        lines.append(f"            const {kind} *row = rows + places[i] * {width} + {first};")
        lines += [f"            t{v} += {_at(kind, 'row', v)};" for v in vectors]
        lines.append("        }")
        lines += [
            f"        {_at(kind, f'target + {first}', v, constant=False)} = t{v};" for v in vectors
        ]
        lines.append("    }")
    inside = "\n".join(lines)
    return f"""
INLINE void @{name}_{width}({kind} *target, const {kind} *bias, const {kind} *rows,
                           const int64_t *places, int64_t count)
{{
#if defined(VECTORS)
{inside}
#else
    for (int64_t j = 0; j < {width}; j++)
        target[j] = bias[j];
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < {width}; j++)
            target[j] = ({kind})(target[j] + rows[places[i] * {width} + j]);
#endif
}}
"""


def _add_products(length: int, width: int, positive: int) -> str:
    sign = ">" if positive else "!="
    lines = []
    for first, vectors in _chunks("float", width):
        lines.append("    {")
        lines += [f"        @float_v t{v} = {_at('float', f'bias + {first}', v)};" for v in vectors]
        lines.append("        for (int i = 0; i < count; i++) {")
        lines.append("            const float input = inputs[used[i]];")
        lines.append(f"            const float *row = rows + used[i] * {width} + {first};")
        lines += [f"            t{v} += input * {_at('float', 'row', v)};" for v in vectors]
        lines.append("        }")
        lines += [
            f"        {_at('float', f'target + {first}', v, constant=False)} = t{v};"
            for v in vectors
        ]
        lines.append("    }")
    inside = "\n".join(lines)
    return f"""
INLINE void @add_products_{length}_{width}_{positive}(float *target, const float *bias,
                                                 const float *rows, const float *inputs)
{{
    int used[{length}], count = 0;
    for (int i = 0; i < {length}; i++) {{
        used[count] = i;
        count += inputs[i] {sign} 0.0f;
    }}
#if defined(VECTORS)
{inside}
#else
    for (int j = 0; j < {width}; j++)
        target[j] = bias[j];
    for (int i = 0; i < count; i++)
        for (int j = 0; j < {width}; j++)
            target[j] += inputs[used[i]] * rows[used[i] * {width} + j];
#endif
}}
"""


def _dot(length: int, positive: int) -> str:
    cut = "x = (@float_v)((@int32_t_v)x & (x > zero));" if positive else ""
    one = "(inputs[i + j] > 0.0f ? inputs[i + j] : 0.0f)" if positive else "inputs[i + j]"
    return f"""
INLINE float @dot_{length}_{positive}(const float *inputs, const float *weights)
{{
    float total[8] = {{0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f}};
#if defined(VECTORS)
    const @float_v zero = *(const @float_v *)total;
    @float_v sum = zero;
    for (int i = 0; i < {length}; i += 8) {{
        @float_v x = *(const @float_v *)(inputs + i);
        {cut}
        sum += x * *(const @float_v *)(weights + i);
    }}
    *(@float_v *)total = sum;
#else
    for (int i = 0; i < {length}; i += 8)
        for (int j = 0; j < 8; j++)
            total[j] += {one} * weights[i + j];
#endif
    for (int half = 4; half; half /= 2)
        for (int j = 0; j < half; j++)
            total[j] += total[j + half];
    return total[0];
}}
"""


def _clip_shorts(width: int, shift: int, most: int) -> str:
    return f"""
INLINE void @clip_shorts_{width}_{shift}_{most}(int16_t *target, const int16_t *source)
{{
    for (int j = 0; j < {width}; j++) {{
        int16_t unit = (int16_t)(source[j] >> {shift});
        unit = unit < 0 ? 0 : unit;
        target[j] = unit > {most} ? {most} : unit;
    }}
}}
"""


def _clip_products(length: int, width: int, shift: int, most: int) -> str:
    lines = []
    for first in range(0, width, LANES["int16_t"] * MOST_VECTORS // 2):
        vectors = range(min(MOST_VECTORS, (width - first) // 8))
        lines.append("    {")
        lines += [f"        __m256i t{v} = LOAD(bias + {first + 8 * v});" for v in vectors]
        lines.append(f"        for (int i = 0; i < {length // 2}; i++) {{")
        lines.append("            const __m256i pair = _mm256_set1_epi32(pairs[i]);")
        lines.append(f"            const int16_t *row = rows + {2 * width} * i + {2 * first};")
        lines += [
            f"            t{v} = _mm256_add_epi32(t{v},"
            f" _mm256_madd_epi16(pair, LOAD(row + {16 * v})));"
            for v in vectors
        ]
        lines.append("        }")
        lines += [f"        STORE(total + {first + 8 * v}, t{v});" for v in vectors]
        lines.append("    }")
    inside = "\n".join(lines)
    return f"""
INLINE void @clip_products_{length}_{width}_{shift}_{most}(int16_t *target, const int32_t *bias,
                                                  const int16_t *rows, const int16_t *inputs)
{{
    int32_t total[{width}];
#if defined(PAIRS)
    int32_t pairs[{length // 2}];
    memcpy(pairs, inputs, sizeof pairs);
{inside}
#else
    for (int j = 0; j < {width}; j++)
        total[j] = bias[j];
    for (int i = 0; i < {length // 2}; i++)
        for (int j = 0; j < {width}; j++)
            total[j] += inputs[2 * i] * rows[2 * (i * {width} + j)]
                + inputs[2 * i + 1] * rows[2 * (i * {width} + j) + 1];
#endif
    for (int j = 0; j < {width}; j++) {{
        int32_t unit = total[j] >> {shift};
        unit = unit < 0 ? 0 : unit;
        target[j] = (int16_t)(unit > {most} ? {most} : unit);
    }}
}}
"""


def _dot_shorts(length: int) -> str:
    return f"""
INLINE int32_t @dot_shorts_{length}(const int16_t *inputs, const int16_t *weights)
{{
    int32_t total = 0;
    for (int i = 0; i < {length}; i++)
        total += inputs[i] * weights[i];
    return total;
}}
"""


#: For each function of `games.kernels.vectors` its text for sizes that are fixed.
WRITTEN: dict[str, Callable[..., str]] = {
    "sum_rows": lambda width: _sums("float", "sum_rows", width),
    "add_products": _add_products,
    "dot": _dot,
    "sum_shorts": lambda width: _sums("int16_t", "sum_shorts", width),
    "clip_shorts": _clip_shorts,
    "clip_products": _clip_products,
    "dot_shorts": _dot_shorts,
}
