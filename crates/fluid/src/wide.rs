//! Loops over classes of flows, compiled for three targets: any processor, and processors with
//! vectors of four or eight numbers.
//!
//! The program selects the version for the processor at run time. Results are bit-identical: the order of all
//! sums is explicit, and products and sums are rounded separately.

/// Defines a function in all three versions.
macro_rules! wide {
    (
        $(#[$about:meta])*
        $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block
    ) => {
        $(#[$about])*
        $vis fn $name($($arg: $type),*) $(-> $result)? {
            #[inline(always)]
            fn any($($arg: $type),*) $(-> $result)? $body
            #[cfg(target_arch = "x86_64")]
            {
                use std::arch::is_x86_feature_detected as has;
                #[target_feature(enable = "avx2")]
                fn four($($arg: $type),*) $(-> $result)? {
                    any($($arg),*)
                }
                #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
                fn eight($($arg: $type),*) $(-> $result)? {
                    any($($arg),*)
                }
                if has!("avx512f") && has!("avx512dq") && has!("avx512vl") {
                    // SAFETY: the processor has the instructions that the function is compiled for.
                    #[allow(unsafe_code)]
                    return unsafe { eight($($arg),*) };
                }
                if has!("avx2") {
                    // SAFETY: the processor has the instructions that the function is compiled for.
                    #[allow(unsafe_code)]
                    return unsafe { four($($arg),*) };
                }
            }
            any($($arg),*)
        }
    };
}

pub(crate) use wide;

/// The number of quantities per group, summed by two or four per instruction.
pub(crate) const WIDTH: usize = 4;

/// Returns the length of an array of `len` quantities written in groups that may begin at any of
/// them.
pub(crate) const fn padded(len: usize) -> usize {
    len.next_multiple_of(WIDTH) + WIDTH
}

/// Returns the total of a group of sums. It is not inlined, because the compiler would choose register pairs
/// by this expression and load the operands one by one. It also does so unless the sums are made in loops
/// over all four.
#[inline(never)]
pub(crate) fn total(sums: [f64; WIDTH]) -> f64 {
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}
