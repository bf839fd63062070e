/*
 * Fourth: a small engine of Connect Four that speaks UCI. Its weights are wrong on purpose, so that
 * docs/authors.md can put them right: `fit` marks the numbers that `plysmith fit --patch` replaces.
 *
 *     cc -std=c99 -O2 fourth.c -o fourth
 *     ./fourth traces 2000 > traces.csv    # 2,000 games against itself, as terms with results
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CENTRE, NEAR, PAIRS, LUCKY, OTHER, TERMS };

static struct { const char *name; int weight; } terms[TERMS] = {
    {"centre", -30}, /* stones in the middle column: fit:centre */
    {"near", -20},   /* stones in the two columns beside it: fit:near */
    {"pairs", -15},  /* neighbours of one colour: fit:pairs */
    {"lucky", -40},  /* squares that complete a four, in rows that fall to the side: fit:lucky */
    {"other", 10},   /* squares that complete a four in other rows: fit:other */
};

/* A column has 7 bits, the lowest for its lowest square, and the highest is always 0. */
typedef struct { uint64_t own, theirs; int plies; } Board;
static const int STEPS[] = {1, 6, 7, 8}, ORDER[] = {3, 2, 4, 1, 5, 0, 6};
static const uint64_t BOTTOM = UINT64_C(0x40810204081), ALL = UINT64_C(0x40810204081) * 63;
static const uint64_t ODD = UINT64_C(0x40810204081) * 21; /* the rows 1, 3 and 5 */
enum { WIN = 100000 };

static int count(uint64_t bits)
{
    int number = 0;
    for (; bits; bits &= bits - 1)
        number++;
    return number;
}

static int four(uint64_t stones)
{
    for (int i = 0; i < 4; i++) {
        const uint64_t two = stones & stones >> STEPS[i];
        if (two & two >> 2 * STEPS[i])
            return 1;
    }
    return 0;
}

/* The empty squares that would complete a four. */
static uint64_t completing(uint64_t stones, uint64_t all)
{
    uint64_t found = 0;
    for (int i = 0; i < 4; i++) {
        const int step = STEPS[i];
        const uint64_t two = stones & stones >> step, three = two & stones >> 2 * step;
        found |= three >> step | three << 3 * step;
        found |= (stones & two >> 2 * step) << step | (two & stones >> 3 * step) << 2 * step;
    }
    return found & ALL & ~all;
}

static uint64_t open_square(const Board *board, int column)
{
    return ((board->own | board->theirs) + BOTTOM) & ALL & UINT64_C(127) << 7 * column;
}

static Board played(const Board *board, int column)
{
    return (Board){board->theirs, board->own | open_square(board, column), board->plies + 1};
}

/* What is counted for a side; `first` tells whether it began the game. */
static void measure(uint64_t stones, uint64_t all, int first, int counts[TERMS])
{
    const uint64_t squares = completing(stones, all), lucky = first ? ODD : ~ODD;
    counts[CENTRE] = count(stones & UINT64_C(127) << 21);
    counts[NEAR] = count(stones & (UINT64_C(127) << 14 | UINT64_C(127) << 28));
    counts[PAIRS] = 0;
    for (int i = 0; i < 4; i++)
        counts[PAIRS] += count(stones & stones >> STEPS[i]);
    counts[LUCKY] = count(squares & lucky);
    counts[OTHER] = count(squares & ~lucky);
}

static void differences(const Board *board, int counts[TERMS])
{
    const uint64_t all = board->own | board->theirs;
    int theirs[TERMS];
    measure(board->own, all, board->plies % 2 == 0, counts);
    measure(board->theirs, all, board->plies % 2 == 1, theirs);
    for (int i = 0; i < TERMS; i++)
        counts[i] -= theirs[i];
}

static int64_t nodes, most;

static int search(const Board *board, int depth, int alpha, int beta, int *best)
{
    int moves = 0;
    nodes++;
    if (four(board->theirs))
        return board->plies - WIN;
    if (board->plies == 42)
        return 0;
    if (depth == 0) {
        int counts[TERMS], value = 0;
        differences(board, counts);
        for (int i = 0; i < TERMS; i++)
            value += terms[i].weight * counts[i];
        return value;
    }
    for (int i = 0; i < 7; i++) {
        const int column = ORDER[i];
        if (!open_square(board, column))
            continue;
        const Board next = played(board, column);
        const int value = -search(&next, depth - 1, -beta, -alpha, NULL);
        if (nodes >= most)
            return 0;
        if (value > alpha || !moves++) {
            alpha = value > alpha ? value : alpha;
            if (best)
                *best = column;
        }
        if (alpha >= beta)
            break;
    }
    return alpha;
}

/* Returns a column: that of the deepest search that `limit` nodes were enough for. */
static int choose(const Board *board, int64_t limit, int deepest, int *value, int *reached)
{
    int chosen = 0;
    nodes = 0;
    most = INT64_MAX;
    for (int depth = 1; depth <= deepest && depth <= 42 - board->plies; depth++) {
        int best = 0;
        const int found = search(board, depth, -WIN, WIN, &best);
        if (nodes >= most)
            break;
        chosen = best;
        *value = found;
        *reached = depth;
        most = limit;
    }
    return chosen;
}

/* Plays games against itself, and prints positions where nobody can win at once. */
static void traces(int games)
{
    srand(1);
    printf("game,result");
    for (int i = 0; i < TERMS; i++)
        printf(",%s", terms[i].name);
    printf("\n");
    for (int game = 0; game < games; game++) {
        Board board = {0, 0, 0}, seen[42];
        int value, depth, opening = 2 + rand() % 9;
        while (!four(board.theirs) && board.plies < 42) {
            int column = choose(&board, 300, 42, &value, &depth);
            if (board.plies < opening || rand() % 10 == 0)
                do
                    column = rand() % 7;
                while (!open_square(&board, column));
            seen[board.plies] = board;
            board = played(&board, column);
        }
        for (int ply = opening; ply < board.plies; ply++) {
            const Board *one = &seen[ply];
            const uint64_t all = one->own | one->theirs, reach = (all + BOTTOM) & ALL;
            int counts[TERMS];
            if ((completing(one->own, all) | completing(one->theirs, all)) & reach)
                continue;
            differences(one, counts);
            printf("%d,%s", game, !four(board.theirs) ? "0.5" : (board.plies - ply) % 2 ? "1" : "0");
            for (int i = 0; i < TERMS; i++)
                printf(",%d", counts[i]);
            printf("\n");
        }
    }
}

/* Reads "startpos moves 4 4" or "fen ROWS SIDE moves 4 4", rows from the top, X begins. */
static Board position(char *text)
{
    Board board = {0, 0, 0};
    char *word = strtok(text, " \n");
    if (word && strcmp(word, "fen") == 0 && (word = strtok(NULL, " \n"))) {
        int column = 0, row = 5;
        uint64_t stones[2] = {0, 0};
        for (; *word; word++)
            if (*word == '/') {
                column = 0;
                row--;
            } else {
                if (*word != '.')
                    stones[*word == 'O'] |= UINT64_C(1) << (7 * column + row);
                column++;
            }
        board.plies = count(stones[0] | stones[1]);
        board.own = stones[board.plies % 2];
        board.theirs = stones[1 - board.plies % 2];
    }
    while ((word = strtok(NULL, " \n")))
        if (word[0] >= '1' && word[0] <= '7')
            board = played(&board, word[0] - '1');
    return board;
}

int main(int arguments, char **words)
{
    char line[4096], name[64];
    Board board = {0, 0, 0};
    if (arguments == 3 && strcmp(words[1], "traces") == 0) {
        traces(atoi(words[2]));
        return 0;
    }
    while (fgets(line, sizeof line, stdin)) {
        int number, value = 0, depth = 0, deepest = 42;
        const char *place;
        if (strncmp(line, "ucinewgame", 10) == 0) {
            continue;
        } else if (strncmp(line, "uci", 3) == 0) {
            printf("id name Fourth\n");
            for (int i = 0; i < TERMS; i++)
                printf("option name %s type spin default %d min -500 max 500\n", terms[i].name,
                       terms[i].weight);
            printf("uciok\n");
        } else if (strncmp(line, "isready", 7) == 0) {
            printf("readyok\n");
        } else if (sscanf(line, "setoption name %63s value %d", name, &number) == 2) {
            for (int i = 0; i < TERMS; i++)
                if (strcmp(name, terms[i].name) == 0)
                    terms[i].weight = number;
        } else if (strncmp(line, "position ", 9) == 0) {
            board = position(line + 9);
        } else if (strncmp(line, "go", 2) == 0) {
            int64_t limit = 10000;
            if ((place = strstr(line, "nodes ")))
                limit = strtoll(place + 6, NULL, 10);
            if ((place = strstr(line, "depth "))) {
                deepest = atoi(place + 6);
                limit = INT64_MAX;
            }
            number = choose(&board, limit, deepest, &value, &depth);
            printf("info depth %d score cp %d nodes %" PRId64 "\n", depth, value, nodes);
            printf("bestmove %d\n", number + 1);
        } else if (strncmp(line, "quit", 4) == 0) {
            break;
        }
        fflush(stdout);
    }
    return 0;
}
