//! Numbers as people read them.

/// `1 state`, `1,234 states`.
pub fn count(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(n))
}

const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// The bytes of `512MiB`, `2GiB` or `64KiB`; at least one.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let (_, bytes) = UNITS.into_iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(bytes).filter(|bytes| *bytes > 0)
}

/// `512 MiB`, in the largest unit of which it is a whole number.
pub fn bytes(n: u64) -> String {
    let unit = UNITS.into_iter().find(|(_, bytes)| n > 0 && n.is_multiple_of(*bytes));
    unit.map_or_else(|| count(n, "byte"), |(name, bytes)| format!("{} {name}", grouped(n / bytes)))
}

/// `1234567` as `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_unit() {
        for (text, number) in [("64KiB", 64 << 10), ("512 MiB", 512 << 20), ("3GiB", 3 << 30)] {
            assert_eq!(parse_bytes(text), Some(number));
        }
        for bad in ["", "512", "512M", "512MB", "MiB", "-1MiB", "0MiB", "1.5GiB", "99999999999999999999GiB"] {
            assert_eq!(parse_bytes(bad), None, "{bad}");
        }
        assert_eq!(bytes(512 << 20), "512 MiB");
        assert_eq!(bytes(4096 << 20), "4 GiB");
        assert_eq!(bytes(1_500 << 10), "1,500 KiB");
        assert_eq!(bytes(1_001), "1,001 bytes");
    }
}
