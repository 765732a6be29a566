// Without BUILD_WITH_EASY_PROFILER nothing is left: this links without the library.
#include <easy/arbitrary_value.h>
#include <easy/profiler.h>

static int played = 0;

static void play() {
    EASY_FUNCTION(profiler::colors::Red);
    EASY_BLOCK("block", profiler::OFF);
    EASY_NONSCOPED_BLOCK("another");
    EASY_END_BLOCK;
    EASY_EVENT("event");
    EASY_VALUE("value", 1, EASY_GLOBAL_VIN);
    EASY_TEXT("text", "text");
    EASY_THREAD_SCOPE("thread");
    ++played;
}

int main() {
    EASY_PROFILER_ENABLE;
    EASY_MAIN_THREAD;
    profiler::startListen();
    play();
    EASY_PROFILER_DISABLE;
    const bool is_off = !profiler::isEnabled() && !profiler::isListening() && profiler::main_thread::frameTime() == 0;
    return profiler::dumpBlocksToFile("nothing.prof") == 0 && is_off && played == 1 ? 0 : 1;
}
