import Foundation
import Pipeline
import Testing

@testable import Workspaces

@Suite struct ColdReasonTests {
    private func key(_ definition: String = "d", tools: String = "t", workflow: String = "test") -> SnapshotKey {
        SnapshotKey(repository: "app", workflow: workflow, branch: "main", definition: definition, tools: tools)
    }

    private func base(_ key: SnapshotKey, plan: String? = "p", at: Date = Date(timeIntervalSince1970: 1))
        -> SnapshotFacts
    {
        SnapshotFacts(
            key: key, plan: plan, run: 12, commit: "c", tree: "t", createdAt: at, cleanAt: at, isClean: true)
    }

    @Test func `an edit that leaves the steps as they are leaves the workspace warm`() {
        #expect(base(key()).serves(key(), plan: nil))
        #expect(base(key()).serves(key("other"), plan: "p"))
        #expect(!base(key()).serves(key("other"), plan: "q"), "another step is another build")
        #expect(!base(key(), plan: nil).serves(key("other"), plan: nil), "of Swift code in steps nothing is known")
        #expect(!base(key()).serves(key("other", tools: "new"), plan: "p"))
        #expect(!base(key()).serves(key("other", workflow: "lint"), plan: "p"))
    }

    @Test func `the reason names what changed and since which run`() {
        #expect(ColdReason.text([], for: key(), plan: nil) == "there is no warm workspace of main yet")
        #expect(
            ColdReason.text([], for: key(), plan: nil, on: "mini") == "there is no warm workspace of main on mini yet")
        #expect(ColdReason.text([base(key())], for: key("e"), plan: "q") == "workflows/ changed since run 12")
        #expect(
            ColdReason.text([base(key())], for: key(tools: "u"), plan: "p")
                == "the compiler or installed packages changed since run 12")
        #expect(
            ColdReason.text([base(key(), at: .distantFuture)], for: key(), plan: nil)
                == "the clock was set back since run 12")
    }
}
