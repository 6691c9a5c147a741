//! Loops over kinds of flows, compiled three times: for any processor, and for those that move four or
//! eight numbers by an instruction.
//!
//! The program takes at run time what the processor can. The result is the same to the bit: the order of
//! all sums is written down, and products and sums are rounded one by one.

/// Makes a function of which there are all three.
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
                    // SAFETY: the processor has the instructions that it is compiled for.
                    #[allow(unsafe_code)]
                    return unsafe { eight($($arg),*) };
                }
                if has!("avx2") {
                    // SAFETY: the processor has the instructions that it is compiled for.
                    #[allow(unsafe_code)]
                    return unsafe { four($($arg),*) };
                }
            }
            any($($arg),*)
        }
    };
}

pub(crate) use wide;

/// The number of quantities that are summed side by side, two or four by an instruction.
pub(crate) const WIDTH: usize = 4;

/// Returns the length of an array for so many quantities that are written in groups, wherever
/// among them a group begins.
pub(crate) const fn padded(len: usize) -> usize {
    len.next_multiple_of(WIDTH) + WIDTH
}

/// The total of such sums. Not inlined: the compiler would choose which two sums share a register
/// by this expression, and then load their parts one by one. So it does, too, unless the sums are
/// made in loops over all four.
#[inline(never)]
pub(crate) fn total(sums: [f64; WIDTH]) -> f64 {
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}
