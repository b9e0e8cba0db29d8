extension StringProtocol {
    /// The first `count` scalars, with `…` if more follow. It counts scalars since one character may consist of any
    /// number of them, so a limit on characters would bound nothing.
    func shortened(to count: Int) -> String {
        let first = String(String.UnicodeScalarView(unicodeScalars.prefix(count)))
        return first.utf8.count < utf8.count ? first + "…" : first
    }
}
