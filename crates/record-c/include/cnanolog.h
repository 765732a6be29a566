/* CNanoLog's functions and macros, implemented by Traceloom's recorder: change only the include path and the library.
 *
 * The log has the format of CNanoLog 1.0.7, so its decompressor can read it, and so can `traceloom log`. All entries are
 * written, even if the program calls exit() without cnanolog_shutdown(). traceloom.h adds features that CNanoLog lacks:
 * filters, flush, a crash handler. */
#ifndef CNANOLOG_H
#define CNANOLOG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CNANOLOG_OUTPUT_BINARY = 0,
    CNANOLOG_OUTPUT_TEXT = 1,
} cnanolog_output_format_t;

typedef enum {
    CNANOLOG_ROTATE_NONE = 0,
    CNANOLOG_ROTATE_DAILY,
} cnanolog_rotation_policy_t;

typedef struct {
    cnanolog_rotation_policy_t policy; /* daily: app-2026-01-31.clog */
    const char *base_path;
    cnanolog_output_format_t format;
    const char *text_pattern; /* NULL for CNANOLOG_DEFAULT_PATTERN */
} cnanolog_rotation_config_t;

/* %t time, %T short time, %d date, %D time of day, %l level, %L first letter of the level, %f file, %n line, %m message */
#define CNANOLOG_DEFAULT_PATTERN "[%t] [%l] [%f:%n] %m"

/* These return 0, or -1 on failure; traceloom_error() returns the reason. */
int cnanolog_init(const char *log_file_path);
int cnanolog_init_ex(const cnanolog_rotation_config_t *config);
int cnanolog_set_writer_affinity(int core_id);
int cnanolog_register_level(const char *name, uint8_t level);

void cnanolog_shutdown(void);
void cnanolog_preallocate(void);

typedef struct {
    uint64_t total_logs_written;
    uint64_t total_bytes_written;
    uint64_t dropped_logs;
    uint64_t compression_ratio_x100; /* always 100 */
    uint64_t staging_buffers_active;
    uint64_t background_wakeups; /* always 0 */
} cnanolog_stats_t;

void cnanolog_get_stats(cnanolog_stats_t *stats);
void cnanolog_reset_stats(void);

typedef enum {
    LOG_LEVEL_INFO = 0,
    LOG_LEVEL_WARN = 1,
    LOG_LEVEL_ERROR = 2,
    LOG_LEVEL_DEBUG = 3,
} cnanolog_level_t;

#define CNANOLOG_MAX_CUSTOM_LEVELS 64

/* For programs that were compiled with CNanoLog's own header; the second one exists only on x86-64. */
uint32_t _cnanolog_register_site(cnanolog_level_t level, const char *filename, uint32_t line_number, const char *format,
                                 uint8_t num_args, const uint8_t *arg_types, const char *text_pattern);
void _cnanolog_log_binary(uint32_t log_id, uint8_t num_args, const uint8_t *arg_types, ...);

#ifdef __cplusplus
}
#endif

/* A printf format, and up to 50 arguments. */
#define LOG_INFO(...) CNANOLOG_LOG(LOG_LEVEL_INFO, __VA_ARGS__)
#define LOG_WARN(...) CNANOLOG_LOG(LOG_LEVEL_WARN, __VA_ARGS__)
#define LOG_ERROR(...) CNANOLOG_LOG(LOG_LEVEL_ERROR, __VA_ARGS__)
#define LOG_DEBUG(...) CNANOLOG_LOG(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define CNANOLOG_LOG(level, ...) TRACELOOM_LOG_AS((int)(level), 0, __VA_ARGS__)
#define CNANOLOG_LOG0(level, format) CNANOLOG_LOG(level, format)
#define CNANOLOG_LOG_ARGS(level, ...) CNANOLOG_LOG(level, __VA_ARGS__)

/* The same with another pattern, for text logs. */
#define LOG_INFO_FMT(text_pattern, ...) CNANOLOG_LOG_ARGS_FMT(LOG_LEVEL_INFO, text_pattern, __VA_ARGS__)
#define LOG_WARN_FMT(text_pattern, ...) CNANOLOG_LOG_ARGS_FMT(LOG_LEVEL_WARN, text_pattern, __VA_ARGS__)
#define LOG_ERROR_FMT(text_pattern, ...) CNANOLOG_LOG_ARGS_FMT(LOG_LEVEL_ERROR, text_pattern, __VA_ARGS__)
#define LOG_DEBUG_FMT(text_pattern, ...) CNANOLOG_LOG_ARGS_FMT(LOG_LEVEL_DEBUG, text_pattern, __VA_ARGS__)
#define CNANOLOG_LOG_ARGS_FMT(level, text_pattern, ...) TRACELOOM_LOG_AS((int)(level), text_pattern, __VA_ARGS__)

/* The names from the format's documentation, with the types of the arguments as suffixes (i, s, d), which are ignored.
 * If a program uses these names for something else, it defines CNANOLOG_NO_DOCUMENT_NAMES. */
#ifndef CNANOLOG_NO_DOCUMENT_NAMES
#define log_info(...) LOG_INFO(__VA_ARGS__)
#define log_warn(...) LOG_WARN(__VA_ARGS__)
#define log_error(...) LOG_ERROR(__VA_ARGS__)
#define log_debug(...) LOG_DEBUG(__VA_ARGS__)
#define log_info_i(...) LOG_INFO(__VA_ARGS__)
#define log_info_s(...) LOG_INFO(__VA_ARGS__)
#define log_info_d(...) LOG_INFO(__VA_ARGS__)
#define log_info_ii(...) LOG_INFO(__VA_ARGS__)
#define log_info_is(...) LOG_INFO(__VA_ARGS__)
#define log_info_id(...) LOG_INFO(__VA_ARGS__)
#define log_info_si(...) LOG_INFO(__VA_ARGS__)
#define log_info_ss(...) LOG_INFO(__VA_ARGS__)
#define log_info_sd(...) LOG_INFO(__VA_ARGS__)
#define log_info_di(...) LOG_INFO(__VA_ARGS__)
#define log_info_ds(...) LOG_INFO(__VA_ARGS__)
#define log_info_dd(...) LOG_INFO(__VA_ARGS__)
#define log_warn_i(...) LOG_WARN(__VA_ARGS__)
#define log_warn_s(...) LOG_WARN(__VA_ARGS__)
#define log_warn_d(...) LOG_WARN(__VA_ARGS__)
#define log_warn_ii(...) LOG_WARN(__VA_ARGS__)
#define log_warn_is(...) LOG_WARN(__VA_ARGS__)
#define log_warn_id(...) LOG_WARN(__VA_ARGS__)
#define log_warn_si(...) LOG_WARN(__VA_ARGS__)
#define log_warn_ss(...) LOG_WARN(__VA_ARGS__)
#define log_warn_sd(...) LOG_WARN(__VA_ARGS__)
#define log_warn_di(...) LOG_WARN(__VA_ARGS__)
#define log_warn_ds(...) LOG_WARN(__VA_ARGS__)
#define log_warn_dd(...) LOG_WARN(__VA_ARGS__)
#define log_error_i(...) LOG_ERROR(__VA_ARGS__)
#define log_error_s(...) LOG_ERROR(__VA_ARGS__)
#define log_error_d(...) LOG_ERROR(__VA_ARGS__)
#define log_error_ii(...) LOG_ERROR(__VA_ARGS__)
#define log_error_is(...) LOG_ERROR(__VA_ARGS__)
#define log_error_id(...) LOG_ERROR(__VA_ARGS__)
#define log_error_si(...) LOG_ERROR(__VA_ARGS__)
#define log_error_ss(...) LOG_ERROR(__VA_ARGS__)
#define log_error_sd(...) LOG_ERROR(__VA_ARGS__)
#define log_error_di(...) LOG_ERROR(__VA_ARGS__)
#define log_error_ds(...) LOG_ERROR(__VA_ARGS__)
#define log_error_dd(...) LOG_ERROR(__VA_ARGS__)
#define log_debug_i(...) LOG_DEBUG(__VA_ARGS__)
#define log_debug_s(...) LOG_DEBUG(__VA_ARGS__)
#define log_debug_d(...) LOG_DEBUG(__VA_ARGS__)
#define log_debug_ii(...) LOG_DEBUG(__VA_ARGS__)
#define log_debug_is(...) LOG_DEBUG(__VA_ARGS__)
#define log_debug_id(...) LOG_DEBUG(__VA_ARGS__)
#define log_debug_si(...) LOG_DEBUG(__VA_ARGS__)
#define log_debug_ss(...) LOG_DEBUG(__VA_ARGS__)
#define log_debug_sd(...) LOG_DEBUG(__VA_ARGS__)
#define log_debug_di(...) LOG_DEBUG(__VA_ARGS__)
#define log_debug_ds(...) LOG_DEBUG(__VA_ARGS__)
#define log_debug_dd(...) LOG_DEBUG(__VA_ARGS__)
#endif

#endif /* CNANOLOG_H */
