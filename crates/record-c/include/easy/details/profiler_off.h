/* easy/profiler.h without BUILD_WITH_EASY_PROFILER: everything expands to nothing. */
#ifndef EASY_PROFILER_OFF_H
#define EASY_PROFILER_OFF_H

#define EASY_CONST_NAME(name)
#define EASY_BLOCK(...)
#define EASY_NONSCOPED_BLOCK(...)
#define EASY_FUNCTION(...)
#define EASY_END_BLOCK
#define EASY_EVENT(...)
#define EASY_PROFILER_ENABLE
#define EASY_PROFILER_DISABLE
#define EASY_THREAD(...)
#define EASY_THREAD_SCOPE(...)
#define EASY_MAIN_THREAD
#define EASY_SET_EVENT_TRACING_ENABLED(isEnabled)
#define EASY_SET_LOW_PRIORITY_EVENT_TRACING(isLowPriority)
#define EASY_EVENT_TRACING_SET_LOG(filename)
#define EASY_EVENT_TRACING_LOG ""

namespace profiler {

class BaseBlockDescriptor;
class Block;
class ThreadGuard final {};

inline constexpr timestamp_t now() { return 0; }
inline constexpr timestamp_t toNanoseconds(timestamp_t) { return 0; }
inline constexpr timestamp_t toMicroseconds(timestamp_t) { return 0; }
inline const BaseBlockDescriptor *registerDescription(EasyBlockStatus, const char *, const char *, const char *, int,
                                                      block_type_t, color_t, bool = false) {
    return nullptr;
}
inline void storeEvent(const BaseBlockDescriptor *, const char * = "") {}
inline void storeBlock(const BaseBlockDescriptor *, const char *, timestamp_t, timestamp_t) {}
inline void beginBlock(Block &) {}
inline void beginNonScopedBlock(const BaseBlockDescriptor *, const char * = "") {}
inline void endBlock() {}
inline void setEnabled(bool) {}
inline constexpr bool isEnabled() { return false; }
inline uint32_t dumpBlocksToFile(const char *) { return 0; }
inline void startListen(uint16_t = DEFAULT_PORT) {}
inline void stopListen() {}
inline constexpr bool isListening() { return false; }
inline const char *registerThread(const char *) { return ""; }
inline const char *registerThreadScoped(const char *, ThreadGuard &) { return ""; }
inline constexpr bool isMainThread() { return false; }
inline constexpr timestamp_t this_thread_frameTime(Duration = MICROSECONDS) { return 0; }
inline constexpr timestamp_t this_thread_frameTimeLocalMax(Duration = MICROSECONDS) { return 0; }
inline constexpr timestamp_t this_thread_frameTimeLocalAvg(Duration = MICROSECONDS) { return 0; }
inline constexpr timestamp_t main_thread_frameTime(Duration = MICROSECONDS) { return 0; }
inline constexpr timestamp_t main_thread_frameTimeLocalMax(Duration = MICROSECONDS) { return 0; }
inline constexpr timestamp_t main_thread_frameTimeLocalAvg(Duration = MICROSECONDS) { return 0; }
inline void setEventTracingEnabled(bool) {}
inline constexpr bool isEventTracingEnabled() { return false; }
inline void setLowPriorityEventTracing(bool) {}
inline constexpr bool isLowPriorityEventTracing() { return false; }
inline void setContextSwitchLogFilename(const char *) {}
inline constexpr const char *getContextSwitchLogFilename() { return ""; }
inline constexpr uint8_t versionMajor() { return 0; }
inline constexpr uint8_t versionMinor() { return 0; }
inline constexpr uint16_t versionPatch() { return 0; }
inline constexpr uint32_t version() { return 0; }
inline constexpr const char *versionName() { return "v0.0.0_disabled"; }

} // namespace profiler

#endif /* EASY_PROFILER_OFF_H */
