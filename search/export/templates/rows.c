/*
 * Sums over rows of numbers, as in games.kernels.vectors, with the same order of additions of
 * floats. `@` is the prefix of the file. Sizes such as #width are fixed. What is between `chunk` and
 * `end` is written for each piece of a row, from column #first on; a line with #v for each vector in
 * it, and a line with #p for each of several sums that do not wait for one another. It is written
 * for vectors of 32 bytes, and where they fit for those of 64 too: #bytes and #lanes.
 */

/* head */
#if defined(__GNUC__) && !defined(PLAIN)
#define VECTORS
#define INLINE static inline __attribute__((always_inline))
typedef float @floats_32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t @words __attribute__((vector_size(32), aligned(4), may_alias));
typedef int16_t @shorts_32 __attribute__((vector_size(32), aligned(2), may_alias));
#if defined(__AVX2__)
#include <immintrin.h>
#define PAIRS
typedef int32_t @four __attribute__((aligned(1), may_alias));
/* bit i says whether number i passes a test beside 0 */
#define MASK_32(place, test) _mm256_movemask_ps( \
    _mm256_cmp_ps(_mm256_loadu_ps(place), _mm256_setzero_ps(), test))
#define VECTOR_32 __m256i
#define LOAD_32(place) _mm256_loadu_si256((const __m256i *)(const void *)(place))
#define ZERO_32 _mm256_setzero_si256()
#define SPREAD_32(number) _mm256_set1_epi32(number)
#define ADD_32(a, b) _mm256_add_epi32(a, b)
/* adds to each sum four products of units, 0 to 255, and weights */
#if defined(__AVXVNNI__)
#define ADD_FOUR_32(sum, units, place) _mm256_dpbusd_avx_epi32(sum, units, LOAD_32(place))
#elif defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define ADD_FOUR_32(sum, units, place) _mm256_dpbusd_epi32(sum, units, LOAD_32(place))
#else
static inline __attribute__((unused)) __m256i @add_four(__m256i sum, __m256i units, const int8_t *place)
{
    const __m256i low = _mm256_set1_epi16(255), weights = LOAD_32(place);
    const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(weights, 8), 8);
    sum = ADD_32(sum, _mm256_madd_epi16(_mm256_and_si256(units, low), even));
    return ADD_32(sum, _mm256_madd_epi16(_mm256_srli_epi16(units, 8), _mm256_srai_epi16(weights, 8)));
}
#define ADD_FOUR_32 @add_four
#endif
/* stores numbers from 0 to 255 */
#define STORE_UNITS_32(place, a) do { \
    const __m128i shorts = _mm_packs_epi32( \
        _mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1)); \
    _mm_storel_epi64((__m128i *)(void *)(place), _mm_packus_epi16(shorts, shorts)); \
} while (0)
#define CLIP_32(sum, shift, most) _mm256_min_epi32( \
    _mm256_max_epi32(_mm256_srai_epi32(sum, shift), ZERO_32), SPREAD_32(most))
#if defined(__AVX512BW__) && defined(__AVX512VNNI__)
#define WIDE
typedef float @floats_64 __attribute__((vector_size(64), aligned(4), may_alias));
typedef int16_t @shorts_64 __attribute__((vector_size(64), aligned(2), may_alias));
#define MASK_64(place, test) \
    _mm512_cmp_ps_mask(_mm512_loadu_ps(place), _mm512_setzero_ps(), test)
#define VECTOR_64 __m512i
#define LOAD_64(place) _mm512_loadu_si512(place)
#define ZERO_64 _mm512_setzero_si512()
#define SPREAD_64(number) _mm512_set1_epi32(number)
#define ADD_64(a, b) _mm512_add_epi32(a, b)
#define ADD_FOUR_64(sum, units, place) _mm512_dpbusd_epi32(sum, units, LOAD_64(place))
#define STORE_UNITS_64(place, a) \
    _mm_storeu_si128((__m128i *)(void *)(place), _mm512_cvtepi32_epi8(a))
#define CLIP_64(sum, shift, most) _mm512_min_epi32( \
    _mm512_max_epi32(_mm512_srai_epi32(sum, shift), ZERO_64), SPREAD_64(most))
#endif
#endif
#else
#define INLINE static inline
#endif

/* sum_rows width */
INLINE void @sum_rows_#width(float *target, const float *bias, const float *rows,
                             const int64_t *places, int64_t count)
{
#if defined(VECTORS)
    /* chunk */
    {
        @floats_#bytes t#v = *(const @floats_#bytes *)(bias + #first + #lanes * #v);
        for (int64_t i = 0; i < count; i++) {
            const float *row = rows + places[i] * #width + #first;
            t#v += *(const @floats_#bytes *)(row + #lanes * #v);
        }
        *(@floats_#bytes *)(target + #first + #lanes * #v) = t#v;
    }
    /* end */
#else
    for (int j = 0; j < #width; j++)
        target[j] = bias[j];
    for (int64_t i = 0; i < count; i++)
        for (int j = 0; j < #width; j++)
            target[j] += rows[places[i] * #width + j];
#endif
}

/* add_products length width positive */
INLINE void @add_products_#length_#width_#positive(float *target, const float *bias,
                                                   const float *rows, const float *inputs)
{
#if defined(PAIRS)
    uint64_t masks[(#length + 63) / 64] = {0};
#if defined(WIDE) && #length % 16 == 0
    for (int i = 0; i < #length; i += 16)
        masks[i / 64] |= (uint64_t)MASK_64(inputs + i, #positive ? _CMP_GT_OQ : _CMP_NEQ_UQ) << i % 64;
#else
    for (int i = 0; i < #length; i += 8)
        masks[i / 64] |= (uint64_t)MASK_32(inputs + i, #positive ? _CMP_GT_OQ : _CMP_NEQ_UQ) << i % 64;
#endif
#endif
#if !defined(PAIRS) || #length > 64
    int64_t used[#length], count = 0;
#endif
#if !defined(PAIRS)
    for (int i = 0; i < #length; i++) {
        used[count] = i;
        count += #positive ? inputs[i] > 0.0f : inputs[i] != 0.0f;
    }
#elif #length > 64
    for (int i = 0; i < #length; i += 64)
        for (uint64_t rest = masks[i / 64]; rest; rest &= rest - 1)
            used[count++] = i + __builtin_ctzll(rest);
#endif
#if defined(VECTORS)
    /* chunk */
    {
        @floats_#bytes t#v = *(const @floats_#bytes *)(bias + #first + #lanes * #v);
#if defined(PAIRS) && #length <= 64
        for (uint64_t rest = masks[0]; rest; rest &= rest - 1) {
            const int64_t number = __builtin_ctzll(rest);
#else
        for (int64_t i = 0; i < count; i++) {
            const int64_t number = used[i];
#endif
            const float input = inputs[number];
            const float *row = rows + number * #width + #first;
            t#v += input * *(const @floats_#bytes *)(row + #lanes * #v);
        }
        *(@floats_#bytes *)(target + #first + #lanes * #v) = t#v;
    }
    /* end */
#else
    for (int j = 0; j < #width; j++)
        target[j] = bias[j];
    for (int64_t i = 0; i < count; i++)
        for (int j = 0; j < #width; j++)
            target[j] += inputs[used[i]] * rows[used[i] * #width + j];
#endif
}

/* dot length positive */
/* In eight sums, which are added in halves. */
INLINE float @dot_#length_#positive(const float *inputs, const float *weights)
{
    float total[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
#if defined(VECTORS)
    const @floats_32 zero = *(const @floats_32 *)total;
    @floats_32 sum = zero;
    for (int i = 0; i < #length; i += 8) {
        const @floats_32 x = *(const @floats_32 *)(inputs + i);
        const @floats_32 read = #positive ? (@floats_32)((@words)x & (x > zero)) : x;
        sum += read * *(const @floats_32 *)(weights + i);
    }
    *(@floats_32 *)total = sum;
#else
    for (int i = 0; i < #length; i += 8)
        for (int j = 0; j < 8; j++)
            total[j] += (#positive && !(inputs[i + j] > 0.0f) ? 0.0f : inputs[i + j]) * weights[i + j];
#endif
    for (int half = 4; half; half /= 2)
        for (int j = 0; j < half; j++)
            total[j] += total[j + half];
    return total[0];
}

/* sum_shorts width */
INLINE void @sum_shorts_#width(int16_t *target, const int16_t *bias, const int16_t *rows,
                               const int64_t *places, int64_t count)
{
#if defined(VECTORS)
    /* chunk */
    {
        @shorts_#bytes t#v = *(const @shorts_#bytes *)(bias + #first + #lanes * #v);
        for (int64_t i = 0; i < count; i++) {
            const int16_t *row = rows + places[i] * #width + #first;
            t#v += *(const @shorts_#bytes *)(row + #lanes * #v);
        }
        *(@shorts_#bytes *)(target + #first + #lanes * #v) = t#v;
    }
    /* end */
#else
    for (int j = 0; j < #width; j++)
        target[j] = bias[j];
    for (int64_t i = 0; i < count; i++)
        for (int j = 0; j < #width; j++)
            target[j] = (int16_t)(target[j] + rows[places[i] * #width + j]);
#endif
}

/* clip_shorts width shift most */
INLINE void @clip_shorts_#width_#shift_#most(uint8_t *target, const int16_t *source)
{
    for (int j = 0; j < #width; j++) {
        int16_t unit = (int16_t)(source[j] >> #shift);
        unit = unit < 0 ? 0 : unit;
        target[j] = (uint8_t)(unit > #most ? #most : unit);
    }
}

/* clip_products length width shift most */
/* Rows stand in fours: the numbers [0, 0] to [3, 0], [0, 1] to [3, 1] and so on. */
INLINE void @clip_products_#length_#width_#shift_#most(uint8_t *target, const int32_t *bias,
                                                       const int8_t *rows, const uint8_t *inputs)
{
#if defined(PAIRS)
    const @four *fours = (const @four *)(const void *)inputs;
    /* chunk */
    {
        VECTOR_#bytes t#v_#p = #p ? ZERO_#bytes : LOAD_#bytes(bias + #first + #lanes * #v);
        UNROLL
        for (int i = 0; i < #length / 4; i += #parts) {
            const VECTOR_#bytes four#p = SPREAD_#bytes(fours[i + #p]);
            const int8_t *row#p = rows + 4 * #width * (i + #p) + 4 * #first;
            t#v_#p = ADD_FOUR_#bytes(t#v_#p, four#p, row#p + 4 * #lanes * #v);
        }
        VECTOR_#bytes sum#v = ZERO_#bytes;
        sum#v = ADD_#bytes(sum#v, t#v_#p);
        STORE_UNITS_#bytes(target + #first + #lanes * #v, CLIP_#bytes(sum#v, #shift, #most));
    }
    /* end */
#else
    int32_t total[#width];
    for (int j = 0; j < #width; j++)
        total[j] = bias[j];
    for (int i = 0; i < #length; i += 4)
        for (int j = 0; j < #width; j++)
            for (int k = 0; k < 4; k++)
                total[j] += inputs[i + k] * rows[i * #width + 4 * j + k];
    for (int j = 0; j < #width; j++) {
        int32_t unit = total[j] >> #shift;
        unit = unit < 0 ? 0 : unit;
        target[j] = (uint8_t)(unit > #most ? #most : unit);
    }
#endif
}

/* dot_shorts length */
INLINE int32_t @dot_shorts_#length(const uint8_t *inputs, const int8_t *weights)
{
    int32_t total = 0;
    for (int i = 0; i < #length; i++)
        total += inputs[i] * weights[i];
    return total;
}
