/* The colors of EasyProfiler: the Material Design colors, and aliases for some of them. */
#ifndef EASY_PROFILER_COLORS_H
#define EASY_PROFILER_COLORS_H

#include <cstdint>

namespace profiler {

using color_t = uint32_t; /* ARGB */

namespace colors {

inline constexpr color_t modify_alpha32(color_t color, color_t alpha) {
    return (alpha & 0xff000000) | (color & 0x00ffffff);
}

inline constexpr color_t modify_alpha8(color_t color, uint8_t alpha) {
    return (static_cast<color_t>(alpha) << 24) | (color & 0x00ffffff);
}

inline constexpr color_t color(uint8_t red, uint8_t green, uint8_t blue, uint8_t alpha = 0xff) {
    return (static_cast<color_t>(alpha) << 24) | (static_cast<color_t>(red) << 16) | (static_cast<color_t>(green) << 8) |
           static_cast<color_t>(blue);
}

#if !defined(EASY_OPTION_BUILTIN_COLORS) || EASY_OPTION_BUILTIN_COLORS != 0

/* From light (50) to dark (900). */
#define TRACELOOM_SHADES(name, c50, c100, c200, c300, c400, c500, c600, c700, c800, c900)                              \
    constexpr color_t name##50 = c50, name##100 = c100, name##200 = c200, name##300 = c300, name##400 = c400;          \
    constexpr color_t name##500 = c500, name##600 = c600, name##700 = c700, name##800 = c800, name##900 = c900
/* Accent colors. */
#define TRACELOOM_ACCENTS(name, a100, a200, a400, a700)                                                                \
    constexpr color_t name##A100 = a100, name##A200 = a200, name##A400 = a400, name##A700 = a700

TRACELOOM_SHADES(Red, 0xffffebee, 0xffffcdd2, 0xffef9a9a, 0xffe57373, 0xffef5350,
                 0xfff44336, 0xffe53935, 0xffd32f2f, 0xffc62828, 0xffb71c1c);
TRACELOOM_ACCENTS(Red, 0xffff8a80, 0xffff5252, 0xffff1744, 0xffd50000);
TRACELOOM_SHADES(Pink, 0xfffce4ec, 0xfff8bbd0, 0xfff48fb1, 0xfff06292, 0xffec407a,
                 0xffe91e63, 0xffd81b60, 0xffc2185b, 0xffad1457, 0xff880e4f);
TRACELOOM_ACCENTS(Pink, 0xffff80ab, 0xffff4081, 0xfff50057, 0xffc51162);
TRACELOOM_SHADES(Purple, 0xfff3e5f5, 0xffe1bee7, 0xffce93d8, 0xffba68c8, 0xffab47bc,
                 0xff9c27b0, 0xff8e24aa, 0xff7b1fa2, 0xff6a1b9a, 0xff4a148c);
TRACELOOM_ACCENTS(Purple, 0xffea80fc, 0xffe040fb, 0xffd500f9, 0xffaa00ff);
TRACELOOM_SHADES(DeepPurple, 0xffede7f6, 0xffd1c4e9, 0xffb39ddb, 0xff9575cd, 0xff7e57c2,
                 0xff673ab7, 0xff5e35b1, 0xff512da8, 0xff4527a0, 0xff311b92);
TRACELOOM_ACCENTS(DeepPurple, 0xffb388ff, 0xff7c4dff, 0xff651fff, 0xff6200ea);
TRACELOOM_SHADES(Indigo, 0xffe8eaf6, 0xffc5cae9, 0xff9fa8da, 0xff7986cb, 0xff5c6bc0,
                 0xff3f51b5, 0xff3949ab, 0xff303f9f, 0xff283593, 0xff1a237e);
TRACELOOM_ACCENTS(Indigo, 0xff8c9eff, 0xff536dfe, 0xff3d5afe, 0xff304ffe);
TRACELOOM_SHADES(Blue, 0xffe3f2fd, 0xffbbdefb, 0xff90caf9, 0xff64b5f6, 0xff42a5f5,
                 0xff2196f3, 0xff1e88e5, 0xff1976d2, 0xff1565c0, 0xff0d47a1);
TRACELOOM_ACCENTS(Blue, 0xff82b1ff, 0xff448aff, 0xff2979ff, 0xff2962ff);
TRACELOOM_SHADES(LightBlue, 0xffe1f5fe, 0xffb3e5fc, 0xff81d4fa, 0xff4fc3f7, 0xff29b6f6,
                 0xff03a9f4, 0xff039be5, 0xff0288d1, 0xff0277bd, 0xff01579b);
TRACELOOM_ACCENTS(LightBlue, 0xff80d8ff, 0xff40c4ff, 0xff00b0ff, 0xff0091ea);
TRACELOOM_SHADES(Cyan, 0xffe0f7fa, 0xffb2ebf2, 0xff80deea, 0xff4dd0e1, 0xff26c6da,
                 0xff00bcd4, 0xff00acc1, 0xff0097a7, 0xff00838f, 0xff006064);
TRACELOOM_ACCENTS(Cyan, 0xff84ffff, 0xff18ffff, 0xff00e5ff, 0xff00b8d4);
TRACELOOM_SHADES(Teal, 0xffe0f2f1, 0xffb2dfdb, 0xff80cbc4, 0xff4db6ac, 0xff26a69a,
                 0xff009688, 0xff00897b, 0xff00796b, 0xff00695c, 0xff004d40);
TRACELOOM_ACCENTS(Teal, 0xffa7ffeb, 0xff64ffda, 0xff1de9b6, 0xff00bfa5);
TRACELOOM_SHADES(Green, 0xffe8f5e9, 0xffc8e6c9, 0xffa5d6a7, 0xff81c784, 0xff66bb6a,
                 0xff4caf50, 0xff43a047, 0xff388e3c, 0xff2e7d32, 0xff1b5e20);
TRACELOOM_ACCENTS(Green, 0xffb9f6ca, 0xff69f0ae, 0xff00e676, 0xff00c853);
TRACELOOM_SHADES(LightGreen, 0xfff1f8e9, 0xffdcedc8, 0xffc5e1a5, 0xffaed581, 0xff9ccc65,
                 0xff8bc34a, 0xff7cb342, 0xff689f38, 0xff558b2f, 0xff33691e);
TRACELOOM_ACCENTS(LightGreen, 0xffccff90, 0xffb2ff59, 0xff76ff03, 0xff64dd17);
TRACELOOM_SHADES(Lime, 0xfff9ebe7, 0xfff0f4c3, 0xffe6ee9c, 0xffdce775, 0xffd4e157,
                 0xffcddc39, 0xffc0ca33, 0xffafb42b, 0xff9e9d24, 0xff827717);
TRACELOOM_ACCENTS(Lime, 0xfff4ff81, 0xffeeff41, 0xffc6ff00, 0xffaeea00);
TRACELOOM_SHADES(Yellow, 0xfffffde7, 0xfffff9c4, 0xfffff59d, 0xfffff176, 0xffffee58,
                 0xffffeb3b, 0xfffdd835, 0xfffbc02d, 0xfff9a825, 0xfff57f17);
TRACELOOM_ACCENTS(Yellow, 0xffffff8d, 0xffffff00, 0xffffea00, 0xffffd600);
TRACELOOM_SHADES(Amber, 0xfffff8e1, 0xffffecb3, 0xffffe082, 0xffffd54f, 0xffffca28,
                 0xffffc107, 0xffffb300, 0xffffa000, 0xffff8f00, 0xffff6f00);
TRACELOOM_ACCENTS(Amber, 0xffffe57f, 0xffffd740, 0xffffc400, 0xffffab00);
TRACELOOM_SHADES(Orange, 0xfffff3e0, 0xffffe0b2, 0xffffcc80, 0xffffb74d, 0xffffa726,
                 0xffff9800, 0xfffb8c00, 0xfff57c00, 0xffef6c00, 0xffe65100);
TRACELOOM_ACCENTS(Orange, 0xffffd180, 0xffffab40, 0xffff9100, 0xffff6d00);
TRACELOOM_SHADES(DeepOrange, 0xfffbe9e7, 0xffffccbc, 0xffffab91, 0xffff8a65, 0xffff7043,
                 0xffff5722, 0xfff4511e, 0xffe64a19, 0xffd84315, 0xffbf360c);
TRACELOOM_ACCENTS(DeepOrange, 0xffff9e80, 0xffff6e40, 0xffff3d00, 0xffdd2c00);
TRACELOOM_SHADES(Brown, 0xffefebe9, 0xffd7ccc8, 0xffbcaaa4, 0xffa1887f, 0xff8d6e63,
                 0xff795548, 0xff6d4c41, 0xff5d4037, 0xff4e342e, 0xff3e2723);
TRACELOOM_SHADES(Grey, 0xfffafafa, 0xfff5f5f5, 0xffeeeeee, 0xffe0e0e0, 0xffbdbdbd,
                 0xff9e9e9e, 0xff757575, 0xff616161, 0xff424242, 0xff212121);
TRACELOOM_SHADES(BlueGrey, 0xffeceff1, 0xffcfd8dc, 0xffb0bec5, 0xff90a4ae, 0xff78909c,
                 0xff607d8b, 0xff546e7a, 0xff455a64, 0xff37474f, 0xff263238);

#undef TRACELOOM_SHADES
#undef TRACELOOM_ACCENTS

constexpr color_t Black = 0xff000000;
constexpr color_t White = 0xffffffff;
constexpr color_t Null = 0x00000000;
constexpr color_t Red = Red500;
constexpr color_t DarkRed = Red900;
constexpr color_t Coral = Red200;
constexpr color_t RichRed = 0xffff0000;
constexpr color_t Pink = Pink500;
constexpr color_t Rose = PinkA100;
constexpr color_t Purple = Purple500;
constexpr color_t Magenta = PurpleA200;
constexpr color_t DarkMagenta = PurpleA700;
constexpr color_t DeepPurple = DeepPurple500;
constexpr color_t Indigo = Indigo500;
constexpr color_t Blue = Blue500;
constexpr color_t DarkBlue = Blue900;
constexpr color_t RichBlue = 0xff0000ff;
constexpr color_t LightBlue = LightBlue500;
constexpr color_t SkyBlue = LightBlueA100;
constexpr color_t Navy = LightBlue800;
constexpr color_t Cyan = Cyan500;
constexpr color_t DarkCyan = Cyan900;
constexpr color_t Teal = Teal500;
constexpr color_t DarkTeal = Teal900;
constexpr color_t Green = Green500;
constexpr color_t DarkGreen = Green900;
constexpr color_t RichGreen = 0xff00ff00;
constexpr color_t LightGreen = LightGreen500;
constexpr color_t Mint = LightGreen900;
constexpr color_t Lime = Lime500;
constexpr color_t Olive = Lime900;
constexpr color_t Yellow = Yellow500;
constexpr color_t RichYellow = YellowA200;
constexpr color_t Amber = Amber500;
constexpr color_t Gold = Amber300;
constexpr color_t PaleGold = AmberA100;
constexpr color_t Orange = Orange500;
constexpr color_t Skin = Orange100;
constexpr color_t DeepOrange = DeepOrange500;
constexpr color_t Brick = DeepOrange900;
constexpr color_t Brown = Brown500;
constexpr color_t DarkBrown = Brown900;
constexpr color_t CreamWhite = Orange50;
constexpr color_t Wheat = Amber100;
constexpr color_t Grey = Grey500;
constexpr color_t Dark = Grey900;
constexpr color_t Silver = Grey300;
constexpr color_t BlueGrey = BlueGrey500;

#endif

constexpr color_t Default = 0xffffecb3;

} // namespace colors

} // namespace profiler

#endif /* EASY_PROFILER_COLORS_H */
