import Foundation

/// How much slow suites test: the short form is for every test run, the long one for `script/test --long`.
package enum TestForm {
    package static let isLong = ProcessInfo.processInfo.environment["PIPECTL_TEST_FORM"] == "long"

    /// A number of cases or a size: `long`, and in the short form a part of it.
    package static func count(_ long: Int, short: Int) -> Int { isLong ? long : short }
}
