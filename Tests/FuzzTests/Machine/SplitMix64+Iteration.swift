import TestBasics
import TestSupport

extension SplitMix64 {
    /// The generator for iteration `iteration` of a seed, so that each iteration can be repeated without the earlier
    /// ones.
    init(seed: UInt64, iteration: Int) {
        var first = SplitMix64(seed: seed)
        self.init(seed: first.next() ^ UInt64(truncatingIfNeeded: iteration) &* 0xD1B5_4A32_D192_ED03)
    }
}
