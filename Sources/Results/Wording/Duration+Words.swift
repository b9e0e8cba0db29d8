extension Duration {
    /// `1 h 5 min`, `2 min 3 s`, `4.2 s`, `12 ms`: at most two units.
    public var inWords: String {
        let exact = Double(components.seconds) + Double(components.attoseconds) / 1e18
        // 59.97 s become 1 min, not 60 s.
        let seconds = exact < 59.95 ? exact : max(exact.rounded(), 60)
        switch seconds {
        case ..<0.9995: return "\(Int((seconds * 1000).rounded())) ms"
        case ..<60:
            let tenths = (seconds * 10).rounded() / 10
            return tenths == tenths.rounded() ? "\(Int(tenths)) s" : "\(tenths) s"
        case ..<3600:
            let rest = Int(seconds) % 60
            return "\(Int(seconds) / 60) min" + (rest == 0 ? "" : " \(rest) s")
        default:
            let rest = Int(seconds) / 60 % 60
            return "\(Int(seconds) / 3600) h" + (rest == 0 ? "" : " \(rest) min")
        }
    }
}
