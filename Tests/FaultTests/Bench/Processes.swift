import TestBasics
import Foundation
import TestSupport

extension Bench.Daemon {
    /// A line of `/proc/PID/status`, as a number: `VmRSS` in KiB.
    func status(_ name: String) -> Int? {
        guard let text = FileManager.default.contents(atPath: "/proc/\(child.id)/status") else { return nil }
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where line.hasPrefix("\(name):") {
            return Int(line.dropFirst(name.count + 1).filter(\.isNumber))
        }
        return nil
    }
}
