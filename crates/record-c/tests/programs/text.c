/* A text log with a separate pattern for one entry, and a daily log. */
#include <cnanolog.h>

int main(int argc, char **argv) {
    if (argc < 3)
        return 1;
    cnanolog_rotation_config_t config = {CNANOLOG_ROTATE_NONE, argv[1], CNANOLOG_OUTPUT_TEXT, "%L [%f:%n] %m"};
    if (cnanolog_init_ex(&config) != 0)
        return 1;
    LOG_INFO("port %d", 8080);
    LOG_WARN_FMT("%l|%m", "disk %s", "full");
    cnanolog_shutdown();
    cnanolog_rotation_config_t daily = {CNANOLOG_ROTATE_DAILY, argv[2], CNANOLOG_OUTPUT_BINARY, NULL};
    if (cnanolog_init_ex(&daily) != 0 || cnanolog_set_writer_affinity(0) != 0 || cnanolog_set_writer_affinity(-1) == 0)
        return 1;
    LOG_INFO("today");
    return 0;
}
