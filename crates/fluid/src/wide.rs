//! Loops over kinds of flows, compiled twice: for any processor, and for those that move four numbers by
//! an instruction.
//!
//! The program takes at run time what the processor can. The result is the same to the bit: the order of
//! all sums is written down, and products and sums are rounded one by one.

/// Makes a function of which there are both.
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
                #[target_feature(enable = "avx2")]
                fn four($($arg: $type),*) $(-> $result)? {
                    any($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
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
