/// Inputs that often break parsers, whatever the format.
enum Hostile {
    static let texts: [String] = [
        "", " ", "\n", "\r\n", "\t", "\u{0}", "a\u{0}b", "/", "..", "../../etc/passwd", "/etc/passwd", "-rf", "--",
        "~/x",
        "\u{1B}[31m", "\u{1B}[2J", "\u{1B}]0;title\u{7}", "\u{1B}]8;;http://x.example\u{1B}\\", "\u{9B}31m", "\u{1B}",
        "\u{202E}txt", "\u{200B}", "\u{2028}", "\u{FEFF}", "\u{301}", "e\u{301}", "é", "\u{1F468}\u{200D}\u{1F469}",
        "\u{10FFFF}", "\u{E0001}", "<script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "]]>", "<!--",
        "-->",
        "&lt;", "&#0;", "&#x110000;", "</title></style>", "`|``", "[x](http://x.example)", "@team", "|", "%s%n",
        "$(id)",
        "`id`", "; id", "{}", "[]", "null", "true", "NaN", "refs/heads/main", "refs/heads/\u{301}x", "refs/pull/7/head",
        "HEAD", "@{-1}", "x.lock", "a..b", "^", "::", "main:main", "0000000000000000000000000000000000000000",
        "**", "{a,b}", "[!a-z]", "\\", "[", "{", "{{{{{{", "*/9223372036854775807", "* * 30 2 *", "-1", "1e999",
        "2026-11-21T14:03:22.123Z", "99999-99-99T99:99:99Z", "+275760-09-13T00:00:00.000Z", "PIPECTL_X", "A=B",
    ]

    static let numbers: [String] = [
        "0", "-0", "1", "-1", "2", "127", "128", "255", "256", "65535", "65536", "2147483647", "2147483648",
        "-2147483648", "4294967295", "4294967296", "9007199254740993", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "18446744073709551615", "99999999999999999999999", "0.1", "-0.5", "1e-320", "1e15",
        "1e18",
        "1e19", "1.7976931348623157e308", "-1.7976931348623157e308", "604800", "604800.1", "86400",
    ]

    /// Invalid UTF-8: lone continuation bytes, cut sequences, an overlong slash, surrogates, too large values; and byte
    /// order marks of other encodings.
    static let bytes: [[UInt8]] = [
        [0x80], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF0, 0x9F], [0xFF], [0xFE, 0xFF],
        [0xFF, 0xFE], [0xEF, 0xBB, 0xBF], [0x00], [0x1B], [0x9B], [0x0D], [0x0A], [0x7F],
    ]

    static let words: [[UInt8]] = (texts + numbers).map { Array($0.utf8) } + bytes
}
