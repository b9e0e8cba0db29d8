import Foundation
import Pipeline
import PlanRules
import Testing

/// Steps that others need are part of the workflow, whether they are listed or not.
@Suite struct NeededStepTests {
    private let context = PlanContext(
        repository: "r", event: .pullRequest, commit: "c", ref: "refs/pull/1/head", branch: "main")

    private func plan(@StepsBuilder _ steps: @escaping @Sendable () -> [Step]) -> Plan {
        Workflow("test", steps: steps).plan(for: context)
    }

    @Test func `an unlisted step comes before the first step that needs it`() {
        let plan = plan {
            let resolve = Step("resolve", run: "true")
            let build = Step("build", needs: resolve, run: "true")
            Step("format", run: "true")
            Step("unit tests", needs: build, run: "true")
            Step("more tests", needs: build, run: "true")
        }
        #expect(plan.steps.map(\.name) == ["format", "resolve", "build", "unit tests", "more tests"])
        #expect(plan.steps.map(\.needs) == [[], [], ["resolve"], ["build"], ["build"]])
        #expect(plan.validate().isEmpty)
    }

    @Test func `a step that two others need is taken once`() {
        let plan = plan {
            let base = Step("base", run: "true")
            let left = Step("left", needs: base, run: "true")
            let right = Step("right", needs: base, run: "true")
            Step("top", needs: left, right, run: "true")
        }
        #expect(plan.steps.map(\.name) == ["base", "left", "right", "top"])
        #expect(plan.validate().isEmpty)
    }

    @Test func `listing needed steps does not change the plan`() {
        let resolve = Step("resolve", run: "true")
        let build = Step("build", needs: resolve, run: "true").network(.allowed)
        let test = Step("test", needs: build, run: "true")
        #expect(
            plan { test }
                == plan {
                    resolve; build; test
                })
        #expect(
            plan { test }
                == plan {
                    build; test; resolve; test
                }.sorted(as: ["resolve", "build", "test"]))
    }

    /// The order of a list is kept even if a step comes after one that needs it.
    @Test func `listed steps keep their order`() {
        let plan = plan {
            let resolve = Step("resolve", run: "true")
            let build = Step("build", needs: resolve, run: "true")
            Step("tests", needs: build, run: "true")
            build
        }
        #expect(plan.steps.map(\.name) == ["tests", "resolve", "build"])
    }

    /// Modifiers may be added to a step where it is listed, after others have declared that they need it.
    @Test func `modifiers may be added where a step is listed`() {
        let plan = plan {
            let build = Step("build", run: "true")
            build.timeout(.minutes(5))
            Step("tests", needs: build, run: "true")
        }
        #expect(plan.steps.map(\.name) == ["build", "tests"])
        #expect(plan.steps.first?.timeout == 300)
        #expect(plan.validate().isEmpty)
    }

    @Test func `equal commands from two calls of a function are one step`() {
        @Sendable func resolve() -> Step { Step("resolve", run: "true") }
        @Sendable func build() -> Step { Step("build", needs: resolve(), run: "true") }
        let plan = plan {
            Step("a", needs: build(), run: "true")
            Step("b", needs: build(), resolve(), run: "true")
            build()
        }
        #expect(plan.steps.map(\.name) == ["resolve", "a", "b", "build"])
        #expect(plan.validate().isEmpty)
    }

    @Test(arguments: [
        // Needed in two forms.
        [
            Step("a", needs: Step("build", run: "make"), run: "true"),
            Step("b", needs: Step("build", run: "make all"), run: "true"),
        ],
        // One is listed, another one is needed.
        [Step("build", run: "make"), Step("a", needs: Step("build", run: "make all"), run: "true")],
        // Both are needed by one step.
        [Step("a", needs: Step("build", run: "make"), Step("build", run: "make all"), run: "true")],
        // Listed twice, as by a loop that gives each the same name.
        [Step("build", run: "make"), Step("build", run: "make")],
        // What closures do can't be compared.
        [Step("a", needs: Step("build") { _ in }, run: "true"), Step("b", needs: Step("build") { _ in }, run: "true")],
        // Written alike, but what they need differs.
        [
            Step("a", needs: Step("x", needs: Step("build", run: "make"), run: "true"), run: "true"),
            Step("b", needs: Step("x", needs: Step("build", run: "make all"), run: "true"), run: "true"),
        ],
    ])
    func `different steps with one name are reported`(steps: [Step]) {
        let findings = plan { steps }.validate()
        #expect(findings.map(\.rule) == ["duplicate-step"])
        #expect(findings.first?.step == "build")
    }

    @Test func `copies of one closure step are one step`() {
        let pack = Step("pack") { _ in }
        let plan = plan {
            Step("a", needs: pack, run: "true")
            Step("b", needs: pack.timeout(.minutes(60)), run: "true")
        }
        #expect(plan.steps.map(\.name) == ["pack", "a", "b"])
        #expect(plan.validate().isEmpty)
    }

    @Test func `a chain of ten thousand unlisted steps is a plan`() async {
        // The least stack that a thread of a Swift program may have: no step of the way may recurse.
        let names: [String] = await withCheckedContinuation { continuation in
            let thread = Thread {
                let plan = self.plan {
                    var last = Step("0", run: "true")
                    for number in 1..<10_000 { last = Step("\(number)", needs: last, run: "true") }
                    last
                }
                continuation.resume(returning: plan.steps.map(\.name))
            }
            thread.stackSize = 256 << 10
            thread.start()
        }
        #expect(names == (0..<10_000).map(String.init))
    }

    @Test func `planning time does not grow with the number of paths`() {
        let plan = plan {
            var layer = [Step("0", run: "true")]
            for depth in 1...40 {
                let below = layer
                layer = (0..<5).map { Step("\(depth)-\($0)", needs: below, run: "true") }
            }
            layer
        }
        #expect(plan.steps.count == 201)
        #expect(plan.validate().isEmpty)
    }
}

extension Plan {
    fileprivate func sorted(as names: [String]) -> Plan {
        var copy = self
        copy.steps.sort { names.firstIndex(of: $0.name) ?? 0 < names.firstIndex(of: $1.name) ?? 0 }
        return copy
    }
}
