
void @clear(@accumulator *accumulator)
{
    for (int i = 0; i < #words; i++)
        accumulator->active[i] = 0;
    accumulator->count = 0;
    for (int i = 0; i < #width; i++)
        accumulator->sums[i] = #start[i];
}

void @change(@accumulator *accumulator, int64_t input, int sign)
{
    @change_shorts_#width(accumulator->sums, #rows, &input, sign > 0, &input, sign < 0);
    accumulator->active[input / 64] ^= UINT64_C(1) << (input % 64);
    accumulator->count += sign;
}

double @accumulated(const @accumulator *accumulator)
{
    return @value_behind(accumulator->sums, accumulator->count);
}

double @update(@accumulator *accumulator, const int64_t position[])
{
    int64_t places[#most], more[#most], less[64 * #words];
    uint64_t active[#words] = {0};
    const int64_t count = @active_at(position, places);
    int64_t entering = 0, leaving = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t word = (uint64_t)places[i] / 64;
        const uint64_t bit = UINT64_C(1) << ((uint64_t)places[i] % 64);
        active[word] |= bit;
        more[entering] = places[i];
        entering += !(accumulator->active[word] & bit);
    }
    for (int i = 0; i < #words; i++) {
        uint64_t leave = accumulator->active[i] & ~active[i];
        for (; leave; leave &= leave - 1)
            less[leaving++] = 64 * i + @lowest((int64_t)leave);
        accumulator->active[i] = active[i];
    }
    accumulator->count = count;
    if (entering + leaving > count)
        @sum_shorts_#width(accumulator->sums, #start, #rows, places, count);
    else
        @change_shorts_#width(accumulator->sums, #rows, more, entering, less, leaving);
    return @accumulated(accumulator);
}
