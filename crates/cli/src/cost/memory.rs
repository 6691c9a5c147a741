//! The memory of this machine.

use std::fs::read_to_string;

/// Returns the bytes available to this process: the minimum of the kernel's available memory and
/// the rest of the control group's limit. `None` if neither can be read.
pub fn available() -> Option<f64> {
    let machine = read_to_string("/proc/meminfo").ok();
    let machine = machine.as_deref().and_then(|text| kib(text, "MemAvailable:"));
    let number = |path: &str| read_to_string(path).ok()?.trim().parse::<f64>().ok();
    let group = "/sys/fs/cgroup";
    let limit =
        number(&format!("{group}/memory.max")).zip(number(&format!("{group}/memory.current")));
    let old = format!("{group}/memory");
    let old = number(&format!("{old}/memory.limit_in_bytes"))
        .zip(number(&format!("{old}/memory.usage_in_bytes")));
    let left = limit.or(old).map(|(limit, used)| (limit - used).max(0.0));
    match (machine, left) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Returns the bytes that this process may still take of its address space (`ulimit -v`). `None` if there is no
/// limit.
pub fn left_by_limit() -> Option<f64> {
    let limit = address_space(&read_to_string("/proc/self/limits").ok()?)?;
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    Some((limit - kib(&status, "VmSize:").unwrap_or(0.0)).max(0.0))
}

/// Returns the soft limit of the address space in a list of limits, in bytes.
fn address_space(limits: &str) -> Option<f64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns a value in KiB of a kernel file, in bytes.
fn kib(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: f64 = line.trim().split(' ').next()?.parse().ok()?;
    Some(number * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        let text = "MemTotal:       24689668 kB\nMemAvailable:   23063068 kB\n";
        assert_eq!(kib(text, "MemAvailable:"), Some(23_063_068.0 * 1024.0));
        assert_eq!(kib(text, "Swap:"), None);
        let limits = |soft| format!("Max address space         {soft}   unlimited   bytes\n");
        assert_eq!(address_space(&limits("8192000000")), Some(8_192_000_000.0));
        assert_eq!(address_space(&limits("unlimited")), None);
        // On Linux there is always some.
        if cfg!(target_os = "linux") {
            assert!(available().is_some_and(|bytes| bytes > 1e6));
        }
    }
}
