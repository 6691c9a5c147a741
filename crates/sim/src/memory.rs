//! Prefetching, and huge pages.

use std::ops::Range;

/// The bytes of a cache line.
pub const LINE: usize = 64;

/// Prefetches the cache line in which a value begins.
#[inline(always)]
pub fn fetch<T>(value: &T) {
    fetch_at(std::ptr::from_ref(value));
}

#[inline(always)]
#[allow(unsafe_code)]
fn fetch_at<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint. It has no effect that the program can observe, and never
        // faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Prefetches all cache lines of a value.
#[inline(always)]
pub fn fetch_all<T>(value: &T) {
    fetch_lines(value, 0..size_of::<T>().div_ceil(LINE));
}

/// Prefetches some of the cache lines of a value.
#[inline(always)]
pub fn fetch_lines<T>(value: &T, lines: Range<usize>) {
    let begin = std::ptr::from_ref(value).cast::<u8>();
    for line in lines {
        fetch_at(begin.wrapping_add(line * LINE));
    }
}

/// Prefetches all cache lines of a place in memory, given by its address and its length in bytes.
#[inline(always)]
pub fn fetch_bytes((begin, bytes): (*const u8, usize)) {
    for line in 0..bytes.div_ceil(LINE) {
        fetch_at(begin.wrapping_add(line * LINE));
    }
}

/// Collects values in huge pages.
pub fn collect_in_huge_pages<T>(values: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut collected = Vec::with_capacity(values.len());
    in_huge_pages(&collected);
    collected.extend(values);
    collected
}

/// Asks the system for huge pages for the capacity of a vector, before it is filled. Random access
/// to much memory then misses the TLB less.
#[allow(unsafe_code)]
pub fn in_huge_pages<T>(values: &Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::mman::{MmapAdvise, madvise};
        use std::ptr::NonNull;
        const HUGE: usize = 2 << 20;
        let bytes = values.capacity() * size_of::<T>();
        let begin = values.as_ptr().cast_mut().cast::<u8>();
        let ahead = begin.align_offset(HUGE);
        let whole = bytes.saturating_sub(ahead) / HUGE * HUGE;
        if let (1.., Some(begin)) = (whole, NonNull::new(begin.wrapping_add(ahead).cast())) {
            // SAFETY: these bytes are part of the vector's memory, and the advice has no effect that the
            // program can observe.
            let _ = unsafe { madvise(begin, whole, MmapAdvise::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = values;
}
