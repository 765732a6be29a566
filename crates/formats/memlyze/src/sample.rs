//! A sample trace, always the same, that shows what the format can hold: a day of a small web shop.
//!
//! The large files of the benchmarks come from the same generator; only the number of requests differs.

use std::io::Write;

use traceloom_core::{Limits, Result, Sample};

use crate::{Allocated, Call, Composer, raw::Packing};

/// The sample, with a description.
pub fn sample() -> Result<Sample> {
    let bytes = write(Vec::new(), REQUESTS * EVENTS_PER_REQUEST)?;
    Ok(Sample::new("shop.mlyze", bytes, "the memory of a small web shop, with a cache that never evicts anything")
        .tries(&["slice --range 2s..4s {file} part.mlyze", "convert --to memlyze:lz4 {file} packed.mlyze"]))
}

/// Writes a plain trace of about `size` events; memory use does not grow with it.
pub fn write<W: Write>(out: W, size: u64) -> Result<W> {
    let requests = size / EVENTS_PER_REQUEST;
    let mut shop = Shop::new()?;
    for request in 0..requests {
        shop.request(request)?;
        if request == requests / 2 {
            shop.composer.marker(shop.now_us, b"sale begins")?;
        }
    }
    shop.composer.marker(shop.now_us + 900, b"shutdown")?;
    shop.composer.finish(out, START_US, Packing::Plain)
}

/// 2026-01-05 09:00 UTC.
const START_US: u64 = 1_767_603_600_000_000;
const REQUESTS: u64 = 400;
/// On average.
const EVENTS_PER_REQUEST: u64 = 21;
/// Thread ids as Linux assigns them; the file numbers them from 0.
const THREADS: [u64; 3] = [140_245_001_234_176, 140_244_992_841_472, 140_244_984_448_768];

struct Shop {
    composer: Composer,
    parse: u64,
    query: u64,
    render: u64,
    cache: u64,
    now_us: u64,
    seed: u64,
    next_address: u64,
    free_list: Vec<u64>,
}

impl Shop {
    fn new() -> Result<Self> {
        let mut composer = Composer::new(&Limits::default());
        let handle = call(b"shop/server.py", 88, b"handle_request");
        let main = call(b"shop/server.py", 141, b"main");
        let render = call(b"shop/templates.py", 57, b"render");
        let parse = composer.stack(&[call(b"shop/http.py", 31, b"parse_headers"), handle, main])?;
        let query = composer.stack(&[
            call(b"shop/db.py", 203, b"fetch_rows"),
            call(b"shop/db.py", 77, b"query"),
            handle,
            main,
        ])?;
        let render = composer.stack(&[call(b"shop/templates.py", 112, b"join"), render, handle, main])?;
        let cache = composer.stack(&[call(b"shop/cache.py", 19, b"remember"), handle, main])?;
        composer.marker(350, b"startup")?;
        let free_list = Vec::new();
        Ok(Self {
            composer,
            parse,
            query,
            render,
            cache,
            now_us: 1_000,
            seed: 7,
            next_address: 0x7f8e_2c00_0000,
            free_list,
        })
    }

    /// Parses, queries the database, renders, and frees everything except one cache entry.
    fn request(&mut self, number: u64) -> Result<()> {
        let thread = THREADS.get(self.random(3) as usize).copied().unwrap_or(0);
        self.now_us += 2_000 + self.random(40_000);
        let mut held = Vec::new();
        for _ in 0..2 + self.random(3) {
            let size = 64 + 16 * self.random(12);
            held.push(self.alloc(size, self.parse, thread)?);
        }
        for _ in 0..3 + self.random(8) {
            let size = 512 + 8 * self.random(900);
            held.push(self.alloc(size, self.query, thread)?);
        }
        let page = 16_384 + 64 * self.random(700);
        held.push(self.alloc(page, self.render, thread)?);
        if number.is_multiple_of(3) {
            // The leak that the sample demonstrates: nothing ever leaves this cache.
            let size = 2_048 + 32 * (number % 50);
            self.alloc(size, self.cache, thread)?;
        }
        while let Some(address) = held.pop() {
            self.now_us += 3 + self.random(60);
            self.composer.free(self.now_us, address)?;
            self.free_list.push(address);
        }
        if number % 40 == 39 {
            self.now_us += 1_500;
            let objects = 200 + self.random(600);
            self.composer.gc(self.now_us, objects, 96 * objects)?;
        }
        Ok(())
    }

    fn alloc(&mut self, size_bytes: u64, stack: u64, thread: u64) -> Result<u64> {
        self.now_us += 5 + self.random(200);
        let address = self.free_list.pop().unwrap_or_else(|| {
            self.next_address += 0x1_0000;
            self.next_address
        });
        self.composer.alloc(self.now_us, Allocated { address, size_bytes, stack, thread })?;
        Ok(address)
    }

    /// A number below `end`, from a fixed sequence.
    fn random(&mut self, end: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % end
    }
}

const fn call(file: &'static [u8], line: u64, function: &'static [u8]) -> Call<'static> {
    Call { file, line, function }
}
