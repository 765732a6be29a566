/* Calls what CNanoLog's own header expands to, as an object file would that was compiled with it. */
#include <stdint.h>
#include <stddef.h>

int cnanolog_init(const char *path);
void cnanolog_shutdown(void);
uint32_t _cnanolog_register_site(int level, const char *file, uint32_t line, const char *format, uint8_t count,
                                 const uint8_t *types, const char *pattern);
void _cnanolog_log_binary(uint32_t id, uint8_t count, const uint8_t *types, ...);

int main(int argc, char **argv) {
    if (argc < 2 || cnanolog_init(argv[1]) != 0)
        return 1;
    static const uint8_t types[] = {1, 5, 6, 2, 5, 1, 8, 5, 5, 5, 5, 5, 5, 5, 4};
    const uint32_t id = _cnanolog_register_site(1, "old.c", 7, "%d %g %s %lld %g %d %c %g %g %g %g %g %g %g %llu", 15, types, NULL);
    for (int run = 0; run < 2; run++)
        _cnanolog_log_binary(id, 15, types, run, 0.5, "text", -5LL, 1.5, 6, 'c', 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10ULL);
    cnanolog_shutdown();
    return 0;
}
