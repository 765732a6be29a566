/* Everything that C has for an argument; also compiled as C++. */
#include <cnanolog.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef enum { RED, GREEN } paint_t;

int main(int argc, char **argv) {
    if (argc < 2 || cnanolog_init(argv[1]) != 0)
        return 1;
    signed char tiny = -1;
    unsigned char byte = 200;
    short small = -300;
    unsigned short word = 60000;
    long big = -5000000000L;
    unsigned long size = 5000000000UL;
    long long huge = (-9223372036854775807LL - 1);
    unsigned long long most = 18446744073709551615ULL;
    float half = 0.5f;
    char letter = 'x';
    char buffer[8] = "buffer";
    const char *nothing = NULL;
    volatile int seen = 7;
    bool flag = true;
    paint_t paint = GREEN;
    LOG_INFO("%d %u %d %u", tiny, byte, small, word);
    LOG_INFO("%ld %lu %lld %llu", big, size, huge, most);
    LOG_INFO("%.2f %g %c %s %s|", half, 1e300, letter, buffer, nothing);
    LOG_INFO("%d %d %d %p", seen, flag, paint, (const void *)buffer == NULL ? (void *)1 : (void *)2);
    LOG_INFO("%s %s %s %s %s %s %s %s %s %d", "1", "22", "333", "4444", "55555", "666666", "7777777", "88888888", "999999999", 10);
    LOG_INFO("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
             "%d %d %d %d %d %d %d %d %d %d %d %d %d",
             1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
             32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50);
    for (int level = 0; level < 2; level++)
        CNANOLOG_LOG(level, argc > 1 ? "the first format stays" : "", level);
    log_info("Started");
    log_info_i("Processing %d items", 5);
    log_warn_si("User %s failed", "bob");
    log_debug_ds("%f %s", 1.5, "d");
    /* The second run of a call takes another way than the first. */
    static char text[20001];
    memset(text, 'y', sizeof text - 1);
    for (int run = 0; run < 2; run++) {
        LOG_INFO("none");
        LOG_INFO("%d", run);
        LOG_INFO("%d %d", run, -2);
        LOG_INFO("%d %d %g", run, -2, 0.25);
        LOG_INFO("%d %d %g %c", run, -2, 0.25, 'z');
        LOG_INFO("%d %d %g %c %d", run, -2, 0.25, 'z', 5);
        LOG_INFO("%s", buffer);
        LOG_INFO("%s|", nothing);
        LOG_INFO("%d %s", run, buffer);
        LOG_INFO("%s %d %s|", buffer, run, "");
        LOG_INFO("%s %s %d %s", "a", buffer, run, "12345678");
        LOG_INFO("%s", text);
    }
    /* Exits without an end of the log. */
    return 0;
}
