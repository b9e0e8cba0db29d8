import Foundation
import Testing
@testable import Daemon

/// When the index is copied.
@Suite struct IndexBackupsTests {
    @Test(arguments: [(nil, true), (0, false), (-86_399, false), (-86_400, true), (3_600, false), (3_601, true)])
    func `a copy of the last day is enough, one from the future is none`(age: Double?, isDue: Bool) {
        let now = Date(timeIntervalSince1970: 1_790_000_000)
        #expect(IndexBackups.isDue(made: age.map { now.addingTimeInterval($0) }, now: now) == isDue)
    }
}
