//! Our printf compared with the C library's, on generated cases.
#![cfg(unix)]

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use traceloom_cnanolog::{Arg, Form, Program, Types, put_raw, raw::ArgType};
use traceloom_core::ByteOrder;

/// Reads cases from its input and prints each as C does, preceded by its length.
const DRIVER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

static char format[4096], text[4096], out[1 << 20];

static void get(void *to, size_t len) {
    if (fread(to, 1, len, stdin) != len) exit(1);
}

#define PRINT(value) (stars == 0 ? snprintf(out, sizeof out, format, value) \
    : stars == 1 ? snprintf(out, sizeof out, format, star[0], value) \
    : snprintf(out, sizeof out, format, star[0], star[1], value))

int main(void) {
    uint8_t kind;
    while (fread(&kind, 1, 1, stdin) == 1) {
        uint8_t stars;
        int32_t star[2], len = 0;
        uint16_t format_len, text_len;
        uint64_t bits;
        double real;
        get(&stars, 1);
        get(star, 8);
        get(&bits, 8);
        get(&format_len, 2);
        get(format, format_len);
        format[format_len] = 0;
        get(&text_len, 2);
        get(text, text_len);
        text[text_len] = 0;
        memcpy(&real, &bits, 8);
        switch (kind) {
            case 1: len = PRINT((int)bits); break;
            case 2: len = PRINT((long long)bits); break;
            case 3: len = PRINT((unsigned)bits); break;
            case 4: len = PRINT((unsigned long long)bits); break;
            case 5: len = PRINT(real); break;
            case 6: len = PRINT((const char *)text); break;
            case 7: len = PRINT((void *)(uintptr_t)bits); break;
            case 8: len = PRINT((int)(signed char)bits); break;
        }
        fwrite(&len, 4, 1, stdout);
        if (len > 0) fwrite(out, 1, len, stdout);
    }
    return 0;
}
"#;

struct Case {
    format: String,
    stars: Vec<i32>,
    arg: Arg<'static>,
}

impl Case {
    fn encode(&self, out: &mut Vec<u8>) {
        let text = if let Arg::String(text) = self.arg { text } else { b"" };
        let bits = match self.arg {
            Arg::Char(value) => value.into(),
            Arg::Double(value) => value.to_bits(),
            Arg::Int32(value) => value as u64,
            Arg::Int64(value) => value as u64,
            Arg::Pointer(value) | Arg::Uint64(value) => value,
            Arg::String(_) => 0,
            Arg::Uint32(value) => value.into(),
        };
        out.extend([self.arg.arg_type().0, self.stars.len() as u8]);
        for index in 0..2 {
            out.extend(self.stars.get(index).copied().unwrap_or(0).to_ne_bytes());
        }
        out.extend(bits.to_ne_bytes());
        for part in [self.format.as_bytes(), text] {
            out.extend((part.len() as u16).to_ne_bytes());
            out.extend(part);
        }
    }

    fn ours(&self) -> Vec<u8> {
        let args: Vec<Arg<'_>> = self.stars.iter().map(|star| Arg::Int32(*star)).chain([self.arg]).collect();
        render(self.format.as_bytes(), &args)
    }
}

fn render(format: &[u8], args: &[Arg<'_>]) -> Vec<u8> {
    let codes: Vec<ArgType> = args.iter().map(Arg::arg_type).collect();
    let mut data = Vec::new();
    put_raw(args.iter().copied(), ByteOrder::Little, &mut data);
    let types = Types::new(&codes);
    let args = types.decode(&data, ByteOrder::Little, Form::Raw).expect("raw fits");
    let mut out = Vec::new();
    Program::parse(format).render(format, args, &mut out);
    out
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Numbers of every length, and the boundaries.
    fn bits(&mut self) -> u64 {
        let all = [0, 1, 9, 10, 99, 100, 127, 128, 255, 32_767, 65_535, 1 << 31, u32::MAX as u64, 1 << 63, u64::MAX];
        match self.below(3) {
            0 => self.pick(&all),
            1 => self.next() >> self.below(64),
            _ => (self.next() >> self.below(64)).wrapping_neg(),
        }
    }

    fn double(&mut self) -> f64 {
        let all = [
            0.0,
            -0.0,
            1.0,
            0.5,
            1.5,
            2.5,
            0.125,
            9.5,
            99.5,
            999_999.5,
            1e15,
            1e16,
            1e22,
            1e23,
            1e300,
            5e-324,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            0.1,
            123_456.789,
            1e-5,
            0.0001,
            9.9999995,
            0.000_099_999_95,
            4_503_599_627_370_497.5,
            9_007_199_254_740_993.0,
            2.225e-308,
        ];
        match self.below(5) {
            0 => self.pick(&all),
            1 => f64::from_bits(self.next()),
            2 => (self.next() as i64 >> self.below(64)) as f64 / 8.0,
            3 => self.below(1 << 40) as f64 / 10f64.powi(self.below(15) as i32),
            _ => -(self.below(1_000_000) as f64) / 64.0,
        }
    }

    fn case(&mut self) -> Case {
        let kind = self.below(9);
        let (conversion, arg, flags, has_precision) = match kind {
            0 | 1 => {
                let (length, arg) = match self.below(6) {
                    0 => ("hh", Arg::Int32(self.bits() as i32)),
                    1 => ("h", Arg::Int32(self.bits() as i32)),
                    2 | 3 => ("", Arg::Int32(self.bits() as i32)),
                    _ => (self.pick(&["l", "ll", "j", "z", "t"]), Arg::Int64(self.bits() as i64)),
                };
                (format!("{length}{}", self.pick(&['d', 'i'])), arg, "-+ 0", true)
            }
            2 | 3 => {
                let conversion = self.pick(&['u', 'o', 'x', 'X']);
                let (length, arg) = match self.below(6) {
                    0 => ("hh", Arg::Uint32(self.bits() as u32)),
                    1 => ("h", Arg::Uint32(self.bits() as u32)),
                    2 => ("", Arg::Int32(self.bits() as i32)),
                    3 => ("", Arg::Uint32(self.bits() as u32)),
                    _ => (self.pick(&["l", "ll", "j", "z"]), Arg::Uint64(self.bits())),
                };
                (format!("{length}{conversion}"), arg, if conversion == 'u' { "-0" } else { "-#0" }, true)
            }
            4..=6 => {
                let conversion = self.pick(&['f', 'F', 'e', 'E', 'g', 'G', 'a', 'A']);
                // With `#`, glibc up to 2.36 loses the zeros of a number that rounds up to a power of ten.
                let flags = if matches!(conversion, 'g' | 'G') { "-+ 0" } else { "-+ #0" };
                (conversion.to_string(), Arg::Double(self.double()), flags, true)
            }
            7 => match self.below(3) {
                0 => {
                    ("s".to_owned(), Arg::String(self.pick(&[b"", b"a", b"hello world", b"caf\xe9 \xff%d"])), "-", true)
                }
                1 => ("c".to_owned(), Arg::Int32(self.bits() as i32), "-", false),
                _ => ("c".to_owned(), Arg::Char(self.bits() as u8), "-", false),
            },
            // Only one C library prints addresses like this, but the goldens come from it.
            _ if cfg!(target_env = "gnu") => ("p".to_owned(), Arg::Pointer(self.bits()), "-", false),
            _ => ("d".to_owned(), Arg::Char(self.bits() as u8), "-+ 0", true),
        };
        self.spec(conversion, arg, flags, has_precision)
    }

    fn spec(&mut self, conversion: String, arg: Arg<'static>, flags: &str, has_precision: bool) -> Case {
        let mut format = String::from(self.pick(&["", "x ", "100%% "]));
        let mut stars = Vec::new();
        format.push('%');
        for flag in flags.chars() {
            if self.below(3) == 0 {
                format.push(flag);
            }
        }
        match self.below(4) {
            0 => format += &self.below(30).max(1).to_string(),
            1 => {
                format.push('*');
                stars.push(self.below(60) as i32 - 30);
            }
            _ => {}
        }
        match self.below(5) {
            0 | 1 if has_precision => format += &format!(".{}", self.below(20)),
            2 if has_precision => {
                format += ".*";
                stars.push(self.below(40) as i32 - 5);
            }
            3 if has_precision && self.below(8) == 0 => format += &format!(".{}", self.below(400)),
            _ => {}
        }
        format += &conversion;
        format += self.pick(&["", "|", " %% end"]);
        Case { format, stars, arg }
    }
}

/// Compiles the driver; `None` if there is no compiler, which is allowed only outside CI.
fn compile(folder: &Path) -> Option<std::path::PathBuf> {
    let (source, program) = (folder.join("driver.c"), folder.join("driver"));
    fs::write(&source, DRIVER).unwrap();
    match Command::new("cc").arg("-w").arg("-o").arg(&program).arg(&source).status() {
        Ok(status) => {
            assert!(status.success(), "cc failed");
            Some(program)
        }
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "cc is needed: {error}");
            println!("skipped: there is no C compiler here ({error})");
            None
        }
    }
}

fn run(program: &Path, input: Vec<u8>) -> Vec<u8> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap().unwrap();
    assert!(output.status.success());
    output.stdout
}

#[test]
fn equal_to_the_c_library() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compile(folder.path()) else { return };
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let cases: Vec<Case> = (0..60_000).map(|_| random.case()).collect();
    let mut input = Vec::new();
    cases.iter().for_each(|case| case.encode(&mut input));
    let output = run(&program, input);
    let mut left = output.as_slice();
    let mut failures = Vec::new();
    for case in &cases {
        let (len, rest) = left.split_first_chunk::<4>().unwrap();
        let (expected, rest) = rest.split_at(i32::from_ne_bytes(*len).max(0) as usize);
        left = rest;
        let found = case.ours();
        if found != expected {
            let show = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
            failures.push(format!(
                "{:?} {:?} {:?}: C {:?}, ours {:?}",
                case.format,
                case.stars,
                case.arg,
                show(expected),
                show(&found)
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        cases.len(),
        failures[..failures.len().min(40)].join("\n")
    );
}

#[test]
fn what_c_does_not_define_is_shown() {
    let cases: [(&str, &[Arg<'_>], &str); 28] = [
        ("%#g %#.3g", &[Arg::Double(1.5), Arg::Double(100.0)], "1.50000 100."),
        ("%#G", &[Arg::Double(999_999.5)], "1.00000E+06"),
        ("%#g", &[Arg::Double(0.0001)], "0.000100000"),
        ("%#b", &[Arg::Uint32(5)], "0b101"),
        ("%d and %s", &[Arg::Int32(1)], "1 and %s"),
        ("%*d", &[Arg::Int32(5)], "%*d"),
        ("%y %-5q %d", &[Arg::Int32(7)], "%y %-5q 7"),
        ("100%", &[], "100%"),
        ("%5%|%d", &[Arg::Int32(3)], "%|3"),
        ("%s", &[Arg::Int32(42)], "42"),
        ("%6s|", &[Arg::Double(2.5)], "2.500000|"),
        ("%12d|", &[Arg::Double(2.5)], "    2.500000|"),
        ("%-6d|", &[Arg::String(b"abc")], "abc   |"),
        ("%f", &[Arg::Int64(-5)], "-5"),
        ("%d", &[Arg::Int64(1 << 40)], "1099511627776"),
        ("%u", &[Arg::Int64(-1)], "18446744073709551615"),
        ("%lld", &[Arg::Int32(-1)], "-1"),
        ("%lu", &[Arg::Uint32(u32::MAX)], "4294967295"),
        ("%d", &[Arg::Uint32(u32::MAX)], "-1"),
        ("%lx", &[Arg::Pointer(0xdead_beef_0000)], "deadbeef0000"),
        ("%x %u", &[Arg::Pointer(0xdead_beef_0000), Arg::Pointer(u64::MAX)], "beef0000 4294967295"),
        ("%d %c", &[Arg::Pointer(0x3ff8_0000_0000_00c8), Arg::Pointer(0x3ff8_0000_0000_0041)], "200 A"),
        ("%p", &[Arg::Int32(-1)], "0xffffffff"),
        ("%n%d", &[Arg::Pointer(1), Arg::Int32(2)], "2"),
        ("%m", &[Arg::Int32(2)], "%m"),
        ("%2$s %1$d %2$s", &[Arg::Int32(1), Arg::String(b"x")], "x 1 x"),
        ("%2$*1$d|", &[Arg::Int32(4), Arg::Int32(7)], "   7|"),
        ("%999999999d", &[Arg::Int32(1)], "%999999999d"),
    ];
    for (format, args, expected) in cases {
        assert_eq!(String::from_utf8_lossy(&render(format.as_bytes(), args)), expected, "{format}");
    }
}

#[test]
fn no_format_is_fatal() {
    let mut random = Random(7);
    let letters = b"%%%%%diuoxXfFeEgGaAcspnqhlLjzt-+ #0'I123456789.*$bBmSC\x00\xff";
    let args = [
        Arg::Int32(-1),
        Arg::Double(1e300),
        Arg::String(b"text"),
        Arg::Uint64(u64::MAX),
        Arg::Char(200),
        Arg::Pointer(0),
    ];
    for _ in 0..50_000 {
        let format: Vec<u8> = (0..random.below(24)).map(|_| random.pick(letters)).collect();
        render(&format, &args);
    }
    let wide = "%1$59999d".repeat(7000);
    assert!(render(wide.as_bytes(), &args).len() <= 8 << 20);
}
