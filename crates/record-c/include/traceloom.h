/* The recorder for C (C11) and C++ (C++11): logs, spans, frames, events and values at the cost of a clock read.
 *
 *     traceloom_options_t options = {.clog = "app.clog", .prof = "app.prof"};
 *     traceloom_start(&options);
 *     TRACELOOM_SPAN("load");                          ends with its block
 *     TRACELOOM_INFO("took %d of %s", count, name);
 *
 * Everything that was recorded is written when the program calls exit; traceloom_stop() writes it earlier. The name or format
 * of a call site is fixed at its first execution. See docs/recording.md. */
#ifndef TRACELOOM_H
#define TRACELOOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "traceloom_api.h"

/* ---- Logs ---------------------------------------------------------------------------------------------------------- */

#define TRACELOOM_LEVEL_INFO 0
#define TRACELOOM_LEVEL_WARN 1
#define TRACELOOM_LEVEL_ERROR 2
#define TRACELOOM_LEVEL_DEBUG 3

/* A printf format, and up to 50 arguments. */
#define TRACELOOM_INFO(...) TRACELOOM_LOG(TRACELOOM_LEVEL_INFO, __VA_ARGS__)
#define TRACELOOM_WARN(...) TRACELOOM_LOG(TRACELOOM_LEVEL_WARN, __VA_ARGS__)
#define TRACELOOM_ERROR(...) TRACELOOM_LOG(TRACELOOM_LEVEL_ERROR, __VA_ARGS__)
#define TRACELOOM_DEBUG(...) TRACELOOM_LOG(TRACELOOM_LEVEL_DEBUG, __VA_ARGS__)
/* At a custom level; see traceloom_level(). */
#define TRACELOOM_LOG(level, ...) TRACELOOM_LOG_AS(level, 0, __VA_ARGS__)

/* ---- Spans, frames, events, values --------------------------------------------------------------------------------- */

/* A span until the end of this block. */
#define TRACELOOM_SPAN(name) TRACELOOM_SPAN_TEXT(name, 0)
/* The same with a text. */
#define TRACELOOM_SPAN_TEXT(name, text)                                                                                \
    static traceloom_site_t TRACELOOM_LINE(traceloom_site_) = TRACELOOM_SITE(name);                                    \
    uint64_t TRACELOOM_LINE(traceloom_span_) __attribute__((cleanup(traceloom_span_cleanup), unused)) =                \
        traceloom_span_begin(&TRACELOOM_LINE(traceloom_site_), text)

/* A frame until the end of this block. */
#define TRACELOOM_FRAME(name)                                                                                          \
    static traceloom_site_t TRACELOOM_LINE(traceloom_site_) = TRACELOOM_SITE(name);                                    \
    traceloom_frame_t TRACELOOM_LINE(traceloom_frame_) __attribute__((cleanup(traceloom_frame_cleanup), unused)) = {   \
        &TRACELOOM_LINE(traceloom_site_), traceloom_frame_begin(&TRACELOOM_LINE(traceloom_site_))}

/* An event, with or without a text. */
#define TRACELOOM_EVENT(name) TRACELOOM_EVENT_TEXT(name, 0)
#define TRACELOOM_EVENT_TEXT(name, text)                                                                               \
    do {                                                                                                               \
        static traceloom_site_t traceloom_site = TRACELOOM_SITE(name);                                                 \
        traceloom_event(&traceloom_site, text);                                                                        \
    } while (0)

/* A number, an array of numbers, a text. */
#define TRACELOOM_VALUE(name, number)                                                                                  \
    do {                                                                                                               \
        static traceloom_site_t traceloom_site = TRACELOOM_SITE(name);                                                 \
        const __typeof__(number) traceloom_number = (number);                                                          \
        const traceloom_value_t traceloom_stored = {&traceloom_number, sizeof traceloom_number, 0,                     \
                                                    TRACELOOM_VALUE_TYPE(traceloom_number), false};                    \
        traceloom_value(&traceloom_site, &traceloom_stored);                                                           \
    } while (0)
#define TRACELOOM_ARRAY(name, numbers, count)                                                                          \
    do {                                                                                                               \
        static traceloom_site_t traceloom_site = TRACELOOM_SITE(name);                                                 \
        const traceloom_value_t traceloom_stored = {(numbers), sizeof((numbers)[0]) * (count), 0,                      \
                                                    TRACELOOM_VALUE_TYPE((numbers)[0]), true};                         \
        traceloom_value(&traceloom_site, &traceloom_stored);                                                           \
    } while (0)
#define TRACELOOM_TEXT(name, text)                                                                                     \
    do {                                                                                                               \
        static traceloom_site_t traceloom_site = TRACELOOM_SITE(name);                                                 \
        const char *traceloom_text = (text);                                                                           \
        const traceloom_value_t traceloom_stored = {traceloom_text, strlen(traceloom_text), 0,                         \
                                                    TRACELOOM_VALUE_STRING, true};                                     \
        traceloom_value(&traceloom_site, &traceloom_stored);                                                           \
    } while (0)

/* ---- How the macros work ------------------------------------------------------------------------------------------- */

#define TRACELOOM_JOIN_(a, b) a##b
#define TRACELOOM_JOIN(a, b) TRACELOOM_JOIN_(a, b)
#define TRACELOOM_LINE(name) TRACELOOM_JOIN(name, __LINE__)
#define TRACELOOM_SITE(name) {0, name, __FILE__, 0, 0, __LINE__, 0, 0, 0, 0}

static inline void traceloom_span_cleanup(uint64_t *span) { traceloom_span_end(*span); }

typedef struct {
    const traceloom_site_t *site;
    uint64_t number;
} traceloom_frame_t;

static inline void traceloom_frame_cleanup(traceloom_frame_t *frame) { traceloom_frame_end(frame->site, frame->number); }

/* Formats, levels and patterns need not be constants; those of the first execution are used. */
static inline void traceloom_describe(traceloom_site_t *site, int level, const char *pattern, const char *format) {
    if (__builtin_expect(__atomic_load_n(&site->name, __ATOMIC_ACQUIRE) == 0, 0)) {
        site->level = (uint8_t)level;
        site->pattern = pattern;
        __atomic_store_n(&site->name, format, __ATOMIC_RELEASE);
    }
}

/* A few words stay in registers: the compiler knows types and count, and removes the arrays. */
static inline __attribute__((always_inline)) void traceloom_send(traceloom_site_t *site, const uint8_t *types,
                                                                 const uint64_t *words, size_t count) {
    switch (count) {
    case 0: traceloom_log_0(site); break;
    case 1:
        if (types[0] == TRACELOOM_STRING)
            traceloom_log_text(site, (const char *)(uintptr_t)words[0]);
        else
            traceloom_log_1(site, words[0]);
        break;
    case 2: traceloom_log_2(site, words[0], words[1]); break;
    case 3: traceloom_log_3(site, words[0], words[1], words[2]); break;
    case 4: traceloom_log_4(site, words[0], words[1], words[2], words[3]); break;
    default: traceloom_log(site, words);
    }
}

#ifdef __cplusplus

#include <type_traits>

namespace traceloom_detail {

template <class T, class = void>
struct Arg;

template <class T>
struct Arg<T, typename std::enable_if<std::is_floating_point<T>::value>::type> {
    static constexpr uint8_t code = TRACELOOM_DOUBLE;
    static uint64_t word(T number) {
        const double wide = static_cast<double>(number);
        uint64_t word;
        memcpy(&word, &wide, sizeof word);
        return word;
    }
};

template <class T>
struct Arg<T, typename std::enable_if<std::is_integral<T>::value>::type> {
    static constexpr bool is_signed = std::is_signed<T>::value || std::is_same<T, bool>::value;
    static constexpr uint8_t code = std::is_same<T, char>::value ? TRACELOOM_CHAR
                                    : sizeof(T) <= 4             ? (is_signed ? TRACELOOM_INT32 : TRACELOOM_UINT32)
                                                                 : (is_signed ? TRACELOOM_INT64 : TRACELOOM_UINT64);
    static uint64_t word(T number) { return static_cast<uint64_t>(number); }
};

template <class T>
struct Arg<T, typename std::enable_if<std::is_enum<T>::value>::type> {
    typedef typename std::underlying_type<T>::type Number;
    static constexpr uint8_t code = Arg<Number>::code;
    static uint64_t word(T number) { return static_cast<uint64_t>(static_cast<Number>(number)); }
};

template <class T>
struct Arg<T *> {
    static constexpr uint8_t code =
        std::is_same<typename std::remove_const<T>::type, char>::value ? TRACELOOM_STRING : TRACELOOM_POINTER;
    static uint64_t word(T *address) { return reinterpret_cast<uintptr_t>(address); }
};

template <>
struct Arg<decltype(nullptr)> {
    static constexpr uint8_t code = TRACELOOM_POINTER;
    static uint64_t word(decltype(nullptr)) { return 0; }
};

template <class... A>
struct Types {
    static constexpr uint8_t count = sizeof...(A);
    static constexpr uint8_t codes[sizeof...(A) + 1] = {Arg<A>::code..., 0};
};
template <class... A>
constexpr uint8_t Types<A...>::codes[sizeof...(A) + 1];

/* By value: arrays become addresses, and constants of classes need no definition. */
template <class... A>
Types<A...> types_of(const char *format, A...);

template <class... A>
inline void log(traceloom_site_t *site, int level, const char *pattern, const char *format, A... args) {
    const uint64_t words[] = {Arg<A>::word(args)..., 0};
    traceloom_describe(site, level, pattern, format);
    traceloom_send(site, Types<A...>::codes, words, sizeof...(A));
}

/* The number of a type of values. */
template <class T>
constexpr uint8_t value_type() {
    static_assert(std::is_arithmetic<T>::value && sizeof(T) <= 8, "values are numbers, char or bool");
    return std::is_same<T, bool>::value   ? TRACELOOM_VALUE_BOOL
           : std::is_same<T, char>::value ? TRACELOOM_VALUE_CHAR
           : std::is_floating_point<T>::value
               ? (sizeof(T) == 4 ? TRACELOOM_VALUE_FLOAT : TRACELOOM_VALUE_DOUBLE)
               : (sizeof(T) == 1   ? TRACELOOM_VALUE_INT8
                  : sizeof(T) == 2 ? TRACELOOM_VALUE_INT16
                  : sizeof(T) == 4 ? TRACELOOM_VALUE_INT32
                                   : TRACELOOM_VALUE_INT64) +
                     (std::is_unsigned<T>::value ? 1 : 0);
}

} // namespace traceloom_detail

#define TRACELOOM_LOG_AS(level, pattern, ...)                                                                          \
    do {                                                                                                               \
        typedef decltype(::traceloom_detail::types_of(__VA_ARGS__)) traceloom_types;                                   \
        static traceloom_site_t traceloom_site = {                                                                     \
            0, 0, __FILE__, traceloom_types::codes, 0, __LINE__, 0, traceloom_types::count, 0, 0};                     \
        ::traceloom_detail::log(&traceloom_site, level, pattern, __VA_ARGS__);                                         \
    } while (0)

#define TRACELOOM_VALUE_TYPE(x)                                                                                        \
    ::traceloom_detail::value_type<typename std::remove_cv<typename std::remove_reference<decltype(x)>::type>::type>()

#else

static inline uint64_t traceloom_word_signed(long long number) { return (uint64_t)number; }
static inline uint64_t traceloom_word_unsigned(unsigned long long number) { return number; }
static inline uint64_t traceloom_word_address(const volatile void *address) { return (uint64_t)(uintptr_t)address; }
static inline uint64_t traceloom_word_double(double number) {
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

/* Each followed by a comma. */
#define TRACELOOM_WORD(x)                                                                                              \
    _Generic((x),                                                                                                      \
        _Bool: traceloom_word_unsigned,                                                                                \
        char: traceloom_word_signed,                                                                                   \
        signed char: traceloom_word_signed,                                                                            \
        short: traceloom_word_signed,                                                                                  \
        int: traceloom_word_signed,                                                                                    \
        long: traceloom_word_signed,                                                                                   \
        long long: traceloom_word_signed,                                                                              \
        unsigned char: traceloom_word_unsigned,                                                                        \
        unsigned short: traceloom_word_unsigned,                                                                       \
        unsigned int: traceloom_word_unsigned,                                                                         \
        unsigned long: traceloom_word_unsigned,                                                                        \
        unsigned long long: traceloom_word_unsigned,                                                                   \
        float: traceloom_word_double,                                                                                  \
        double: traceloom_word_double,                                                                                 \
        long double: traceloom_word_double,                                                                            \
        default: traceloom_word_address)(x),

#define TRACELOOM_TYPE_OF_LONG (sizeof(long) == 4 ? TRACELOOM_INT32 : TRACELOOM_INT64)
#define TRACELOOM_ARG_TYPE(x)                                                                                          \
    _Generic((x),                                                                                                      \
        _Bool: TRACELOOM_INT32,                                                                                        \
        char: TRACELOOM_CHAR,                                                                                          \
        signed char: TRACELOOM_INT32,                                                                                  \
        short: TRACELOOM_INT32,                                                                                        \
        int: TRACELOOM_INT32,                                                                                          \
        long: TRACELOOM_TYPE_OF_LONG,                                                                                  \
        long long: TRACELOOM_INT64,                                                                                    \
        unsigned char: TRACELOOM_UINT32,                                                                               \
        unsigned short: TRACELOOM_UINT32,                                                                              \
        unsigned int: TRACELOOM_UINT32,                                                                                \
        unsigned long: TRACELOOM_TYPE_OF_LONG + 2,                                                                     \
        unsigned long long: TRACELOOM_UINT64,                                                                          \
        float: TRACELOOM_DOUBLE,                                                                                       \
        double: TRACELOOM_DOUBLE,                                                                                      \
        long double: TRACELOOM_DOUBLE,                                                                                 \
        char *: TRACELOOM_STRING,                                                                                      \
        const char *: TRACELOOM_STRING,                                                                                \
        default: TRACELOOM_POINTER)
#define TRACELOOM_TYPE(x) TRACELOOM_ARG_TYPE(x),

#define TRACELOOM_VALUE_TYPE(x)                                                                                        \
    _Generic((x),                                                                                                      \
        _Bool: TRACELOOM_VALUE_BOOL,                                                                                   \
        char: TRACELOOM_VALUE_CHAR,                                                                                    \
        signed char: TRACELOOM_VALUE_INT8,                                                                             \
        unsigned char: TRACELOOM_VALUE_UINT8,                                                                          \
        short: TRACELOOM_VALUE_INT16,                                                                                  \
        unsigned short: TRACELOOM_VALUE_UINT16,                                                                        \
        int: TRACELOOM_VALUE_INT32,                                                                                    \
        unsigned int: TRACELOOM_VALUE_UINT32,                                                                          \
        long: sizeof(long) == 4 ? TRACELOOM_VALUE_INT32 : TRACELOOM_VALUE_INT64,                                       \
        unsigned long: sizeof(long) == 4 ? TRACELOOM_VALUE_UINT32 : TRACELOOM_VALUE_UINT64,                            \
        long long: TRACELOOM_VALUE_INT64,                                                                              \
        unsigned long long: TRACELOOM_VALUE_UINT64,                                                                    \
        float: TRACELOOM_VALUE_FLOAT,                                                                                  \
        double: TRACELOOM_VALUE_DOUBLE)

#define TRACELOOM_LOG_AS(level, pattern, ...)                                                                          \
    do {                                                                                                               \
        static const uint8_t traceloom_types[] = {TRACELOOM_EACH(TRACELOOM_TYPE, __VA_ARGS__) 0};                      \
        static traceloom_site_t traceloom_site = {                                                                     \
            0, 0, __FILE__, traceloom_types, 0, __LINE__, 0, sizeof traceloom_types - 1, 0, 0};                        \
        const uint64_t traceloom_words[] = {TRACELOOM_EACH(TRACELOOM_WORD, __VA_ARGS__) 0};                            \
        traceloom_describe(&traceloom_site, level, pattern, TRACELOOM_FIRST(__VA_ARGS__, 0));                          \
        traceloom_send(&traceloom_site, traceloom_types, traceloom_words, sizeof traceloom_types - 1);                 \
    } while (0)

#define TRACELOOM_FIRST(first, ...) first
/* Applies a macro to each argument after the format. */
#define TRACELOOM_EACH(m, ...) TRACELOOM_JOIN(TRACELOOM_EACH_, TRACELOOM_COUNT(__VA_ARGS__))(m, __VA_ARGS__)
#define TRACELOOM_COUNT(...) \
    TRACELOOM_COUNT_(__VA_ARGS__, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, \
        23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define TRACELOOM_COUNT_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, \
    _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38, _39, _40, _41, _42, _43, _44, _45, _46, \
    _47, _48, _49, _50, _51, n, ...) n
#define TRACELOOM_EACH_1(m, format)
#define TRACELOOM_EACH_2(m, format, a) m(a)
#define TRACELOOM_EACH_3(m, format, a, ...) m(a) TRACELOOM_EACH_2(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_4(m, format, a, ...) m(a) TRACELOOM_EACH_3(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_5(m, format, a, ...) m(a) TRACELOOM_EACH_4(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_6(m, format, a, ...) m(a) TRACELOOM_EACH_5(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_7(m, format, a, ...) m(a) TRACELOOM_EACH_6(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_8(m, format, a, ...) m(a) TRACELOOM_EACH_7(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_9(m, format, a, ...) m(a) TRACELOOM_EACH_8(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_10(m, format, a, ...) m(a) TRACELOOM_EACH_9(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_11(m, format, a, ...) m(a) TRACELOOM_EACH_10(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_12(m, format, a, ...) m(a) TRACELOOM_EACH_11(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_13(m, format, a, ...) m(a) TRACELOOM_EACH_12(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_14(m, format, a, ...) m(a) TRACELOOM_EACH_13(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_15(m, format, a, ...) m(a) TRACELOOM_EACH_14(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_16(m, format, a, ...) m(a) TRACELOOM_EACH_15(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_17(m, format, a, ...) m(a) TRACELOOM_EACH_16(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_18(m, format, a, ...) m(a) TRACELOOM_EACH_17(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_19(m, format, a, ...) m(a) TRACELOOM_EACH_18(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_20(m, format, a, ...) m(a) TRACELOOM_EACH_19(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_21(m, format, a, ...) m(a) TRACELOOM_EACH_20(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_22(m, format, a, ...) m(a) TRACELOOM_EACH_21(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_23(m, format, a, ...) m(a) TRACELOOM_EACH_22(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_24(m, format, a, ...) m(a) TRACELOOM_EACH_23(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_25(m, format, a, ...) m(a) TRACELOOM_EACH_24(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_26(m, format, a, ...) m(a) TRACELOOM_EACH_25(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_27(m, format, a, ...) m(a) TRACELOOM_EACH_26(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_28(m, format, a, ...) m(a) TRACELOOM_EACH_27(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_29(m, format, a, ...) m(a) TRACELOOM_EACH_28(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_30(m, format, a, ...) m(a) TRACELOOM_EACH_29(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_31(m, format, a, ...) m(a) TRACELOOM_EACH_30(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_32(m, format, a, ...) m(a) TRACELOOM_EACH_31(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_33(m, format, a, ...) m(a) TRACELOOM_EACH_32(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_34(m, format, a, ...) m(a) TRACELOOM_EACH_33(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_35(m, format, a, ...) m(a) TRACELOOM_EACH_34(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_36(m, format, a, ...) m(a) TRACELOOM_EACH_35(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_37(m, format, a, ...) m(a) TRACELOOM_EACH_36(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_38(m, format, a, ...) m(a) TRACELOOM_EACH_37(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_39(m, format, a, ...) m(a) TRACELOOM_EACH_38(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_40(m, format, a, ...) m(a) TRACELOOM_EACH_39(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_41(m, format, a, ...) m(a) TRACELOOM_EACH_40(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_42(m, format, a, ...) m(a) TRACELOOM_EACH_41(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_43(m, format, a, ...) m(a) TRACELOOM_EACH_42(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_44(m, format, a, ...) m(a) TRACELOOM_EACH_43(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_45(m, format, a, ...) m(a) TRACELOOM_EACH_44(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_46(m, format, a, ...) m(a) TRACELOOM_EACH_45(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_47(m, format, a, ...) m(a) TRACELOOM_EACH_46(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_48(m, format, a, ...) m(a) TRACELOOM_EACH_47(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_49(m, format, a, ...) m(a) TRACELOOM_EACH_48(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_50(m, format, a, ...) m(a) TRACELOOM_EACH_49(m, format, __VA_ARGS__)
#define TRACELOOM_EACH_51(m, format, a, ...) m(a) TRACELOOM_EACH_50(m, format, __VA_ARGS__)

#endif /* __cplusplus */

#endif /* TRACELOOM_H */
