
/* Hub, the protocol of draughts engines (version 2), for English checkers. Square s has bit
   s - 1 + (s - 1) / 8; a move has its start in bits 0 to 5, its end in 6 to 11, and the captured
   pieces from bit 12 on. */

/* Black's men, its kings, White's men and its kings; the side to move comes first. */
static const char letters[] = "bBwW";

static int @hub_position(@line *line, const char *text)
{
    int64_t position[#integers] = {0};
    const int white = text[0] == 'W';
    for (int i = 0; i < 32; i++) {
        const char *letter = strchr(letters, text[1 + i]);
        if (text[1 + i] == 0 || (letter == NULL && text[1 + i] != 'e'))
            return 0;
        if (letter == NULL)
            continue;
        position[(letter - letters) / 2 != white] |= INT64_C(1) << (i + i / 8);
        position[2] |= (int64_t)((letter - letters) % 2) << (i + i / 8);
    }
    position[3] = white;
    memcpy(line->positions, position, sizeof position);
    line->earlier = 0;
    return white || text[0] == 'B';
}

static char *@hub_move(int64_t move, char *word)
{
    const int start = (int)(move & 63), end = (int)(move >> 6 & 63);
    char *at = word + sprintf(word, "%d%c%d", start + 1 - start / 9, move >> 12 ? 'x' : '-',
                              end + 1 - end / 9);
    for (int bit = 0; bit < 35; bit++)
        if (move >> (12 + bit) & 1)
            at += sprintf(at, "x%d", bit + 1 - bit / 9);
    return word;
}

/* pos pos=SIDE-AND-SQUARES [moves="MOVE ..."] */
static const char *@hub_pos(@line *line, char *text)
{
    char *start = strstr(text, " pos="), *moves = strstr(text, " moves="), word[64];
    if (start == NULL || !@hub_position(line, start + 5))
        return "expected pos= with B or W and 32 of bwBWe";
    for (moves = moves == NULL ? NULL : strtok(moves + 7, " \"\r\n"); moves != NULL;
         moves = strtok(NULL, " \"\r\n")) {
        const int64_t count = @list_at(line);
        int64_t i = 0;
        while (i < count && strcmp(@hub_move(line->root_moves[i], word), moves) != 0)
            i++;
        if (i == count)
            return "expected legal moves";
        @advance_at(line, line->root_moves[i]);
    }
    return NULL;
}

static double @hub_number(const char *text, const char *name)
{
    const char *place = strstr(text, name);
    return place == NULL ? 0.0 : strtod(place + strlen(name), NULL);
}

/* Answers a line of Hub; returns whether it was one. A time becomes a number of positions, by the
   speed of the searches before. */
static int @hub(@line *line, char *text)
{
    static int64_t depth = #depths, nodes = INT64_C(1) << 62;
    static double speed = 1e6;
    const char *error = NULL;
    char word[64];
    if (strncmp(text, "hub", 3) == 0)
        printf("id name=#name version=1 author=Plysmith\nparam name=variant value=english type=enum"
               " values=english\nwait\n");
    else if (strncmp(text, "init", 4) == 0)
        printf("ready\n");
    else if (strncmp(text, "ping", 4) == 0)
        printf("pong\n");
    else if (strncmp(text, "pos ", 4) == 0)
        error = @hub_pos(line, text);
    else if (strncmp(text, "level", 5) == 0) {
        const double seconds = @hub_number(text, " move-time=") + @hub_number(text, " inc=")
                               + @hub_number(text, " time=") / 30;
        depth = (int64_t)@hub_number(text, " depth=");
        nodes = (int64_t)@hub_number(text, " nodes=");
        depth = depth < 1 || depth > #depths ? #depths : depth;
        nodes = nodes > 0 ? nodes : seconds > 0 ? (int64_t)(0.7 * speed * seconds) + 1
                                                : INT64_C(1) << 62;
    } else if (strncmp(text, "go think", 8) == 0 || strncmp(text, "go analyze", 10) == 0) {
        const clock_t began = clock();
        const int moved = @think_at(line, depth, nodes);
        const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
        if (seconds > 0.01)
            speed = (double)line->nodes / seconds;
        printf("info depth=%" PRId64 " nodes=%" PRId64 " score=%.2f\ndone%s%s\n", line->completed,
               line->nodes, line->value / #unit, moved ? " move=" : "",
               moved ? @hub_move(line->root_moves[line->best], word) : "");
    } else if (strncmp(text, "set-param", 9) != 0 && strncmp(text, "stop", 4) != 0)
        return 0;
    if (error != NULL)
        printf("error message=\"%s\"\n", error);
    return 1;
}
