/* easy/profiler.h with BUILD_WITH_EASY_PROFILER. */
#ifndef EASY_PROFILER_ON_H
#define EASY_PROFILER_ON_H

#include <cstring>

#include "../../traceloom.h"

namespace profiler {

/* A compile-time name belongs to the call site; any other name belongs to each block. */
class ForceConstStr final {
    const char *m_text;

  public:
    explicit constexpr ForceConstStr(const char *text) : m_text(text) {}
    explicit ForceConstStr(const std::string &text) : m_text(text.c_str()) {}
    ForceConstStr(const ForceConstStr &) = delete;
    ForceConstStr &operator=(const ForceConstStr &) = delete;
    constexpr const char *text() const { return m_text; }
};

/* A literal is an lvalue, so its type is a reference. */
template <bool IsLiteral>
struct NameSwitch final {
    static const char *runtime_name(const char *name) { return IsLiteral ? "" : name; }
    static const char *runtime_name(const std::string &name) { return name.c_str(); }
    static const char *runtime_name(const ForceConstStr &) { return ""; }
    static const char *compiletime_name(const char *name, const char *place) { return IsLiteral ? name : place; }
    static const char *compiletime_name(const std::string &, const char *place) { return place; }
    static const char *compiletime_name(const ForceConstStr &name, const char *) { return name.text(); }
};

class BaseBlockDescriptor {
  public:
    BaseBlockDescriptor(EasyBlockStatus status, const char *name, const char *file, int line, block_type_t type, color_t color)
        : m_site{0, name, file, nullptr, nullptr, static_cast<uint32_t>(line), color, 0, 0, status}, m_type(type) {}
    int32_t line() const noexcept { return static_cast<int32_t>(m_site.line); }
    color_t color() const noexcept { return m_site.color; }
    block_type_t type() const noexcept { return m_type; }
    EasyBlockStatus status() const noexcept { return static_cast<EasyBlockStatus>(m_site.status); }
    const traceloom_site_t *site() const noexcept { return &m_site; }

  private:
    traceloom_site_t m_site;
    block_type_t m_type;
};

class Block {
  public:
    Block(const BaseBlockDescriptor *descriptor, const char *name, bool = true) noexcept
        : m_descriptor(descriptor), m_name(name), m_span(0), m_is_open(false) {}
    Block(Block &&that) noexcept
        : m_descriptor(that.m_descriptor), m_name(that.m_name), m_span(that.m_span), m_is_open(that.m_is_open) {
        that.m_is_open = false;
    }
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;
    ~Block() {
        if (m_is_open)
            traceloom_span_end(m_span);
    }
    const char *name() const noexcept { return m_name; }
    void begin() {
        m_span = traceloom_easy_begin(m_descriptor->site(), m_name);
        m_is_open = true;
    }

  private:
    const BaseBlockDescriptor *m_descriptor;
    const char *m_name;
    uint64_t m_span;
    bool m_is_open;
};

/* Descriptors live as long as the program. */
inline const BaseBlockDescriptor *registerDescription(EasyBlockStatus status, const char *, const char *name, const char *file,
                                                      int line, block_type_t type, color_t color, bool copy_name = false) {
    return new BaseBlockDescriptor(status, copy_name ? strdup(name) : name, file, line, type, color);
}

inline timestamp_t now() { return traceloom_tick(); }
inline timestamp_t toNanoseconds(timestamp_t ticks) { return traceloom_ticks_to_ns(ticks); }
inline timestamp_t toMicroseconds(timestamp_t ticks) { return traceloom_ticks_to_ns(ticks) / 1000; }

inline void storeEvent(const BaseBlockDescriptor *descriptor, const char *name = "") {
    traceloom_easy_event(descriptor->site(), name);
}
inline void storeBlock(const BaseBlockDescriptor *descriptor, const char *name, timestamp_t begin, timestamp_t end) {
    traceloom_easy_block(descriptor->site(), name, begin, end);
}
inline void beginBlock(Block &block) { block.begin(); }
inline void beginNonScopedBlock(const BaseBlockDescriptor *descriptor, const char *name = "") {
    traceloom_easy_begin(descriptor->site(), name);
}
inline void endBlock() { traceloom_span_end_last(); }

inline void setEnabled(bool is_enabled) { traceloom_easy_enable(is_enabled); }
inline bool isEnabled() { return traceloom_easy_is_enabled(); }
/* Returns the number of blocks, or 0 on failure; traceloom_error() returns the reason. */
inline uint32_t dumpBlocksToFile(const char *filename) { return traceloom_easy_dump(filename); }

inline void startListen(uint16_t port = DEFAULT_PORT) { traceloom_easy_listen(port); }
inline void stopListen() { traceloom_easy_stop_listen(); }
inline bool isListening() { return traceloom_easy_is_listening(); }

/* Records the end of the thread. */
class ThreadGuard final {
  public:
    ~ThreadGuard() {
        if (!m_is_set)
            return;
        static const BaseBlockDescriptor *const descriptor = registerDescription(
            FORCE_ON, "", "ThreadFinished", __FILE__, __LINE__, BlockType::Event, colors::Default);
        storeEvent(descriptor);
    }
    void set() { m_is_set = true; }

  private:
    bool m_is_set = false;
};

inline const char *registerThread(const char *name) { return traceloom_easy_thread(name); }
inline const char *registerThreadScoped(const char *name, ThreadGuard &guard) {
    guard.set();
    return traceloom_easy_thread(name);
}
inline bool isMainThread() { return traceloom_easy_is_main_thread(); }

inline timestamp_t frame_time(int which, bool of_main, Duration unit) {
    const timestamp_t ticks = traceloom_easy_frame_time(which, of_main);
    return unit == TICKS ? ticks : toMicroseconds(ticks);
}
inline timestamp_t this_thread_frameTime(Duration unit = MICROSECONDS) {
    return frame_time(TRACELOOM_FRAME_LAST, false, unit);
}
inline timestamp_t this_thread_frameTimeLocalMax(Duration unit = MICROSECONDS) {
    return frame_time(TRACELOOM_FRAME_MAX, false, unit);
}
inline timestamp_t this_thread_frameTimeLocalAvg(Duration unit = MICROSECONDS) {
    return frame_time(TRACELOOM_FRAME_AVERAGE, false, unit);
}
inline timestamp_t main_thread_frameTime(Duration unit = MICROSECONDS) {
    return frame_time(TRACELOOM_FRAME_LAST, true, unit);
}
inline timestamp_t main_thread_frameTimeLocalMax(Duration unit = MICROSECONDS) {
    return frame_time(TRACELOOM_FRAME_MAX, true, unit);
}
inline timestamp_t main_thread_frameTimeLocalAvg(Duration unit = MICROSECONDS) {
    return frame_time(TRACELOOM_FRAME_AVERAGE, true, unit);
}

/* Context switches are not recorded; these functions exist so that programs compile. */
inline void setEventTracingEnabled(bool) {}
inline bool isEventTracingEnabled() { return false; }
inline void setLowPriorityEventTracing(bool) {}
inline bool isLowPriorityEventTracing() { return false; }
inline void setContextSwitchLogFilename(const char *) {}
inline const char *getContextSwitchLogFilename() { return ""; }

/* The version of EasyProfiler whose files are written. */
inline constexpr uint8_t versionMajor() { return 2; }
inline constexpr uint8_t versionMinor() { return 1; }
inline constexpr uint16_t versionPatch() { return 0; }
inline constexpr uint32_t version() { return 0x02010000; }
inline constexpr const char *versionName() { return "v2.1.0"; }

} // namespace profiler

#define EASY_COMPILETIME_NAME(name) \
    ::profiler::NameSwitch<::std::is_reference<decltype(name)>::value>::compiletime_name(name, EASY_UNIQUE_LINE_ID)
#define EASY_RUNTIME_NAME(name) ::profiler::NameSwitch<::std::is_reference<decltype(name)>::value>::runtime_name(name)
#define EASY_CONST_NAME(name) ::profiler::ForceConstStr(name)

#define TRACELOOM_EASY_DESCRIPTOR(type, name, ...)                                                                     \
    static const ::profiler::BaseBlockDescriptor *const EASY_UNIQUE_DESC(__LINE__) = ::profiler::registerDescription(  \
        ::profiler::extract_enable_flag(__VA_ARGS__), EASY_UNIQUE_LINE_ID, EASY_COMPILETIME_NAME(name), __FILE__,      \
        __LINE__, ::profiler::BlockType::type, ::profiler::extract_color(__VA_ARGS__),                                 \
        ::std::is_base_of<::profiler::ForceConstStr, decltype(name)>::value)

#define EASY_BLOCK(name, ...)                                                                                          \
    TRACELOOM_EASY_DESCRIPTOR(Block, name, ##__VA_ARGS__);                                                             \
    ::profiler::Block EASY_UNIQUE_BLOCK(__LINE__)(EASY_UNIQUE_DESC(__LINE__), EASY_RUNTIME_NAME(name));                \
    ::profiler::beginBlock(EASY_UNIQUE_BLOCK(__LINE__));
#define EASY_NONSCOPED_BLOCK(name, ...)                                                                                \
    TRACELOOM_EASY_DESCRIPTOR(Block, name, ##__VA_ARGS__);                                                             \
    ::profiler::beginNonScopedBlock(EASY_UNIQUE_DESC(__LINE__), EASY_RUNTIME_NAME(name));
#define EASY_FUNCTION(...) EASY_BLOCK(EASY_FUNC_NAME, ##__VA_ARGS__)
#define EASY_END_BLOCK ::profiler::endBlock();
#define EASY_EVENT(name, ...)                                                                                          \
    TRACELOOM_EASY_DESCRIPTOR(Event, name, ##__VA_ARGS__);                                                             \
    ::profiler::storeEvent(EASY_UNIQUE_DESC(__LINE__), EASY_RUNTIME_NAME(name));

#define EASY_PROFILER_ENABLE ::profiler::setEnabled(true);
#define EASY_PROFILER_DISABLE ::profiler::setEnabled(false);

#define EASY_THREAD(name) ::profiler::registerThread(name);
#define EASY_THREAD_SCOPE(name)                                                                                        \
    ::profiler::ThreadGuard EASY_TOKEN_CONCATENATE(unique_profiler_thread_guard, __LINE__);                            \
    ::profiler::registerThreadScoped(name, EASY_TOKEN_CONCATENATE(unique_profiler_thread_guard, __LINE__));
#define EASY_MAIN_THREAD EASY_THREAD("Main")

#define EASY_SET_EVENT_TRACING_ENABLED(isEnabled) ::profiler::setEventTracingEnabled(isEnabled);
#define EASY_SET_LOW_PRIORITY_EVENT_TRACING(isLowPriority) ::profiler::setLowPriorityEventTracing(isLowPriority);
#define EASY_EVENT_TRACING_SET_LOG(filename) ::profiler::setContextSwitchLogFilename(filename);
#define EASY_EVENT_TRACING_LOG ::profiler::getContextSwitchLogFilename();

#endif /* EASY_PROFILER_ON_H */
