extension StringProtocol {
    /// The first `count` scalars, with `…` where more follow. One character may consist of any number of them, so that
    /// counting characters bounds nothing.
    func shortened(to count: Int) -> String {
        let first = String(String.UnicodeScalarView(unicodeScalars.prefix(count)))
        return first.utf8.count < utf8.count ? first + "…" : first
    }
}
