// A small game that profiles itself with EasyProfiler's names: frames, blocks, values, events, threads.
//
// c++ -std=c++11 -DBUILD_WITH_EASY_PROFILER -Iinclude examples/game.cpp -ltraceloom_record_c -lpthread
// ./a.out game.prof; traceloom game.prof
#include <easy/arbitrary_value.h>
#include <easy/profiler.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

static void think(int enemy) {
    EASY_FUNCTION(profiler::colors::Navy);
    const double mood = std::sin(enemy);
    EASY_VALUE("mood", mood, profiler::colors::DarkRed);
}

static void update(int frame) {
    EASY_FUNCTION(profiler::colors::Blue);
    for (int enemy = 0; enemy < 4; ++enemy)
        think(enemy);
    const std::string name = "step " + std::to_string(frame);
    EASY_BLOCK(name, profiler::colors::Gold);
}

static void draw() {
    EASY_BLOCK("draw", profiler::colors::Red, profiler::ON_WITHOUT_CHILDREN);
    EASY_BLOCK("a child that is off");
    EASY_END_BLOCK;
    EASY_BLOCK("a child that is always on", profiler::FORCE_ON);
}

static void load() {
    EASY_THREAD_SCOPE("Loader");
    for (const char *asset : {"forest", "castle"}) {
        EASY_BLOCK("load");
        EASY_TEXT("asset", asset);
        EASY_EVENT("loaded", profiler::colors::Cyan);
    }
}

int main(int argc, char **argv) {
    EASY_MAIN_THREAD;
    EASY_BLOCK("before the capture");
    EASY_END_BLOCK;
    EASY_PROFILER_ENABLE;
    std::thread loader(load);
    const int sizes[] = {2, -3, 4};
    EASY_ARRAY("sizes", sizes, 3);
    for (int frame = 0; frame < 3; ++frame) {
        EASY_END_BLOCK;
        EASY_NONSCOPED_BLOCK("frame", profiler::colors::Magenta);
        update(frame);
        draw();
        EASY_VALUE("frame number", frame, EASY_GLOBAL_VIN);
    }
    EASY_END_BLOCK;
    loader.join();
    EASY_BLOCK("open at the end");
    const uint32_t blocks = profiler::dumpBlocksToFile(argc > 1 ? argv[1] : "game.prof");
    std::printf("%u blocks\n", blocks);
    return blocks == 0;
}
