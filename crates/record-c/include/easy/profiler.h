/* EasyProfiler's macros and functions, implemented by Traceloom's recorder: change only the include path and the library.
 *
 * Without BUILD_WITH_EASY_PROFILER, or with DISABLE_EASY_PROFILER, everything compiles to nothing. Blocks are buffered on
 * disk, not in memory; blocks that are open when the file is written are included. */
#ifndef EASY_PROFILER_H
#define EASY_PROFILER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <easy/details/profiler_colors.h>

#if defined(BUILD_WITH_EASY_PROFILER) && !defined(DISABLE_EASY_PROFILER)
#define USING_EASY_PROFILER
#endif

#ifndef EASY_FUNC_NAME
#if defined(EASY_OPTION_PRETTY_PRINT_FUNCTIONS) && EASY_OPTION_PRETTY_PRINT_FUNCTIONS != 0
#define EASY_FUNC_NAME __PRETTY_FUNCTION__
#else
#define EASY_FUNC_NAME __func__
#endif
#endif

#ifndef EASY_DEFAULT_PORT
#define EASY_DEFAULT_PORT 28077
#endif

/* For code that checks compiler features: all features of C++11 are available. */
#define EASY_CONSTEXPR constexpr
#define EASY_CONSTEXPR_FCN constexpr
#define EASY_STATIC_CONSTEXPR static constexpr
#define EASY_CONSTEXPR_AVAILABLE
#define EASY_NOEXCEPT noexcept
#define EASY_FINAL final
#define EASY_THREAD_LOCAL thread_local
#define EASY_FORCE_INLINE inline __attribute__((always_inline))

#define EASY_STRINGIFY(a) #a
#define EASY_STRINGIFICATION(a) EASY_STRINGIFY(a)
#define EASY_TOKEN_JOIN(x, y) x##y
#define EASY_TOKEN_CONCATENATE(x, y) EASY_TOKEN_JOIN(x, y)
#define EASY_UNIQUE_BLOCK(x) EASY_TOKEN_CONCATENATE(unique_profiler_mark_name_, x)
#define EASY_UNIQUE_DESC(x) EASY_TOKEN_CONCATENATE(unique_profiler_descriptor_, x)
#define EASY_UNIQUE_LINE_ID __FILE__ ":" EASY_STRINGIFICATION(__LINE__)

namespace profiler {

using timestamp_t = uint64_t;
using thread_id_t = uint64_t;
using block_id_t = uint32_t;

constexpr uint16_t DEFAULT_PORT = EASY_DEFAULT_PORT;
constexpr uint16_t MAX_BLOCK_DATA_SIZE = 2816;

enum EasyBlockStatus : uint8_t {
    OFF = 0,
    ON = 1,
    FORCE_ON = ON | 2,                             /* also inside a block whose children are off */
    OFF_RECURSIVE = 4,                             /* off with all children */
    ON_WITHOUT_CHILDREN = ON | OFF_RECURSIVE,
    FORCE_ON_WITHOUT_CHILDREN = FORCE_ON | OFF_RECURSIVE,
};

enum class BlockType : uint8_t { Event = 0, Block, Value, TypesCount };
using block_type_t = BlockType;

enum Duration : uint8_t { TICKS = 0, MICROSECONDS };

/* A color and a status may be given in any order after the name of a block. */
inline constexpr color_t extract_color() { return colors::Default; }
template <class... Rest>
inline constexpr color_t extract_color(color_t color, Rest...) {
    return color;
}
template <class T, class... Rest>
inline constexpr typename std::enable_if<!std::is_same<T, color_t>::value, color_t>::type extract_color(T, Rest... rest) {
    return extract_color(rest...);
}

inline constexpr EasyBlockStatus extract_enable_flag() { return ON; }
template <class... Rest>
inline constexpr EasyBlockStatus extract_enable_flag(EasyBlockStatus status, Rest...) {
    return status;
}
template <class T, class... Rest>
inline constexpr typename std::enable_if<!std::is_same<T, EasyBlockStatus>::value, EasyBlockStatus>::type
extract_enable_flag(T, Rest... rest) {
    return extract_enable_flag(rest...);
}

} // namespace profiler

#define MAX_DYNAMIC_BLOCK_NAME_SIZE_ESTIMATED ::profiler::MAX_BLOCK_DATA_SIZE

#define EASY_START_CAPTURE EASY_PROFILER_ENABLE
#define EASY_STOP_CAPTURE EASY_PROFILER_DISABLE

#ifdef USING_EASY_PROFILER
#include <easy/details/profiler_on.h>
#else
#include <easy/details/profiler_off.h>
#endif

namespace profiler {

namespace this_thread {
inline const char *registrate(const char *name) { return registerThread(name); }
inline const char *registrate(const char *name, ThreadGuard &guard) { return registerThreadScoped(name, guard); }
inline timestamp_t frameTime(Duration unit = MICROSECONDS) { return this_thread_frameTime(unit); }
inline timestamp_t frameTimeLocalMax(Duration unit = MICROSECONDS) { return this_thread_frameTimeLocalMax(unit); }
inline timestamp_t frameTimeLocalAvg(Duration unit = MICROSECONDS) { return this_thread_frameTimeLocalAvg(unit); }
inline bool isMain() { return isMainThread(); }
} // namespace this_thread

namespace main_thread {
inline timestamp_t frameTime(Duration unit = MICROSECONDS) { return main_thread_frameTime(unit); }
inline timestamp_t frameTimeLocalMax(Duration unit = MICROSECONDS) { return main_thread_frameTimeLocalMax(unit); }
inline timestamp_t frameTimeLocalAvg(Duration unit = MICROSECONDS) { return main_thread_frameTimeLocalAvg(unit); }
inline constexpr bool isMain() { return true; }
} // namespace main_thread

inline bool isCapturing() { return isEnabled(); }
inline void startCapture() { setEnabled(true); }
inline void stopCapture() { setEnabled(false); }
inline timestamp_t currentTime() { return now(); }

} // namespace profiler

#endif /* EASY_PROFILER_H */
