//! Samples one allocation per a number of bytes: large ones nearly always, small ones occasionally.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::thread::Thread;

/// Mean distance of samples in bytes; 0 records everything.
static SAMPLE_BYTES: AtomicU64 = AtomicU64::new(0);

/// Number of live sampled allocations, by a hash of their address; most frees do not match any and end here.
static SAMPLED: [AtomicU32; 1 << 14] = [const { AtomicU32::new(0) }; 1 << 14];

pub(crate) fn start(sample_bytes: u64) {
    SAMPLE_BYTES.store(sample_bytes, Ordering::Relaxed);
    SAMPLED.iter().for_each(|count| count.store(0, Ordering::Relaxed));
}

/// The size to record for an allocation, if it is sampled.
#[inline]
pub(crate) fn weigh(thread: &Thread, size: usize) -> Option<u64> {
    let mean = SAMPLE_BYTES.load(Ordering::Relaxed);
    if mean == 0 { Some(size as u64) } else { draw(thread, size as u64, mean) }
}

fn draw(thread: &Thread, size: u64, mean: u64) -> Option<u64> {
    if thread.random.get() == 0 {
        thread.random.set(0x9e37_79b9_7f4a_7c15 ^ u64::from(thread.number()) << 32);
        thread.until_sample.set(distance(thread, mean));
    }
    let left = thread.until_sample.get().saturating_sub_unsigned(size);
    if left > 0 {
        thread.until_sample.set(left);
        return None;
    }
    // Distances are memoryless, so the next one starts after this allocation.
    thread.until_sample.set(distance(thread, mean));
    // A sample represents one over the probability of being sampled.
    let chance = -f64::exp_m1(-(size as f64) / mean as f64);
    Some((size as f64 / chance).round() as u64)
}

/// Bytes to the next sample, from a Poisson process.
fn distance(thread: &Thread, mean: u64) -> i64 {
    let mut random = thread.random.get();
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    thread.random.set(random);
    let uniform = ((random >> 11) + 1) as f64 / (1u64 << 53) as f64;
    (-uniform.ln() * mean as f64) as i64 + 1
}

fn count_of(address: u64) -> &'static AtomicU32 {
    &SAMPLED[(address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50) as usize]
}

/// Whether the free of an address may have to be recorded.
#[inline]
pub(crate) fn may_be_recorded(address: u64) -> bool {
    SAMPLE_BYTES.load(Ordering::Relaxed) == 0 || count_of(address).load(Ordering::Relaxed) > 0
}

/// Counts a new sampled allocation.
pub(crate) fn count_in(address: u64) {
    count_of(address).fetch_add(1, Ordering::Relaxed);
}

/// Counts the end of a sampled allocation.
pub(crate) fn count_out(address: u64) {
    count_of(address).fetch_sub(1, Ordering::Relaxed);
}
