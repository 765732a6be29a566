/* EasyProfiler's values, implemented by Traceloom's recorder. */
#ifndef EASY_PROFILER_ARBITRARY_VALUE_H
#define EASY_PROFILER_ARBITRARY_VALUE_H

#include <cstring>
#include <string>

#include <easy/profiler.h>

namespace profiler {

enum class DataType : uint8_t {
    Bool = 0, Char, Int8, Uint8, Int16, Uint16, Int32, Uint32, Int64, Uint64, Float, Double, String, TypesCount
};

/* Values with the same id belong to the same quantity: the address of a variable, or no id if the name identifies it. */
class ValueId final {
    const void *m_id;

  public:
    explicit constexpr ValueId() : m_id(nullptr) {}
    explicit constexpr ValueId(const void *member) : m_id(member) {}
    template <class T>
    explicit constexpr ValueId(const T &member) : m_id(&member) {}
    constexpr ValueId(const ValueId &) = default;
    ValueId &operator=(const ValueId &) = delete;
    uint64_t number() const { return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(m_id)); }
};

} // namespace profiler

#ifdef USING_EASY_PROFILER

#define EASY_VIN(member) ::profiler::ValueId(member)
#define EASY_GLOBAL_VIN ::profiler::ValueId()
#define EASY_UNIQUE_VIN ::profiler::ValueId(EASY_UNIQUE_DESC(__LINE__))

/* A number, or an array with a size known at compile time. */
#define EASY_VALUE(name, value, ...)                                                                                   \
    TRACELOOM_EASY_DESCRIPTOR(Value, name, ##__VA_ARGS__);                                                             \
    ::profiler::setValue(EASY_UNIQUE_DESC(__LINE__), value, ::profiler::extract_value_id(value, ##__VA_ARGS__));
#define EASY_ARRAY(name, value, size, ...)                                                                             \
    TRACELOOM_EASY_DESCRIPTOR(Value, name, ##__VA_ARGS__);                                                             \
    ::profiler::setValue(EASY_UNIQUE_DESC(__LINE__), value, ::profiler::extract_value_id(value, ##__VA_ARGS__), size);
#define EASY_TEXT(name, text, ...)                                                                                     \
    TRACELOOM_EASY_DESCRIPTOR(Value, name, ##__VA_ARGS__);                                                             \
    ::profiler::setText(EASY_UNIQUE_DESC(__LINE__), text, ::profiler::extract_value_id(text, ##__VA_ARGS__));
#define EASY_STRING(name, text, size, ...)                                                                             \
    TRACELOOM_EASY_DESCRIPTOR(Value, name, ##__VA_ARGS__);                                                             \
    ::profiler::setText(EASY_UNIQUE_DESC(__LINE__), text, ::profiler::extract_value_id(text, ##__VA_ARGS__), size);

namespace profiler {

/* Uses the given id, or else the address of the value. */
inline ValueId given_value_id(ValueId own) { return own; }
template <class... Rest>
inline ValueId given_value_id(ValueId, ValueId given, Rest...) {
    return given;
}
template <class T, class... Rest>
inline typename std::enable_if<!std::is_same<T, ValueId>::value, ValueId>::type given_value_id(ValueId own, T, Rest... rest) {
    return given_value_id(own, rest...);
}
template <class T, class... Rest>
inline ValueId extract_value_id(const T &value, Rest... rest) {
    return given_value_id(ValueId(static_cast<const void *>(&value)), rest...);
}

inline void storeValue(const BaseBlockDescriptor *descriptor, DataType type, const void *data, std::size_t size, bool is_array,
                       ValueId id) {
    const traceloom_value_t value = {data, size, id.number(), static_cast<uint8_t>(type), is_array};
    traceloom_easy_value(descriptor->site(), &value);
}

template <class T>
struct StdToDataType final {
    static constexpr DataType data_type = static_cast<DataType>(::traceloom_detail::value_type<T>());
};

template <class T>
inline void setValue(const BaseBlockDescriptor *descriptor, T value, ValueId id) {
    static_assert(!std::is_pointer<T>::value, "pass a reference to EASY_VALUE, not a pointer");
    storeValue(descriptor, StdToDataType<T>::data_type, &value, sizeof value, false, id);
}
template <class T>
inline void setValue(const BaseBlockDescriptor *descriptor, const T *values, ValueId id, std::size_t count) {
    storeValue(descriptor, StdToDataType<T>::data_type, values, sizeof(T) * count, true, id);
}
template <class T, std::size_t N>
inline void setValue(const BaseBlockDescriptor *descriptor, const T (&values)[N], ValueId id) {
    storeValue(descriptor, StdToDataType<T>::data_type, values, sizeof values, true, id);
}

inline void setText(const BaseBlockDescriptor *descriptor, const char *text, ValueId id, std::size_t size) {
    storeValue(descriptor, DataType::String, text, size, true, id);
}
inline void setText(const BaseBlockDescriptor *descriptor, const char *text, ValueId id) {
    setText(descriptor, text, id, std::strlen(text));
}
inline void setText(const BaseBlockDescriptor *descriptor, const std::string &text, ValueId id) {
    setText(descriptor, text.c_str(), id, text.size());
}

} // namespace profiler

#else

#define EASY_VIN(member)
#define EASY_GLOBAL_VIN
#define EASY_UNIQUE_VIN
#define EASY_VALUE(...)
#define EASY_ARRAY(...)
#define EASY_TEXT(...)
#define EASY_STRING(...)

namespace profiler {

inline void storeValue(const BaseBlockDescriptor *, DataType, const void *, std::size_t, bool, ValueId) {}
template <class T>
inline void setValue(const BaseBlockDescriptor *, const T &, ValueId) {}
template <class T>
inline void setValue(const BaseBlockDescriptor *, const T *, ValueId, std::size_t) {}
template <class T>
inline void setText(const BaseBlockDescriptor *, const T &, ValueId) {}
inline void setText(const BaseBlockDescriptor *, const char *, ValueId, std::size_t) {}

} // namespace profiler

#endif /* USING_EASY_PROFILER */

#endif /* EASY_PROFILER_ARBITRARY_VALUE_H */
