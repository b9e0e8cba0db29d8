import Diagnostics
public import Results
public import Pipeline

/// The keys of a plan's steps, and why others have none.
public struct KeyedPlan: Sendable, Equatable {
    /// What may stand for a step.
    public enum Standing: Sendable, Equatable {
        /// Any result with this key.
        case provable(StepKey)
        /// Nothing: why, as the end of a sentence that begins with the step.
        case never(String)
    }

    /// The version of what goes into a key; older proofs mean nothing to a newer pipectl.
    static let format = "pipectl step key 4"
    /// The same for ``StepKey/definition``: a step that is not believed stays so.
    fileprivate static let definitionFormat = "pipectl step key 2"

    /// By the step's name.
    public private(set) var standings: [String: Standing] = [:]
    /// By the step's name, the variables of the run that a provable step is not given, because they are not in its key.
    ///
    /// What a script could read unseen would be part of its result, and of no key.
    public private(set) var withheld: [String: Set<String>] = [:]
    /// By the step's name, the files of the tested tree that are where its outputs go.
    public private(set) var tracked: [String: [String]] = [:]
    /// By the step's name, what its result depends on but for files, of it and of what it needs: all that counts of it for
    /// a step whose own inputs cover what it needs. Only in a plan that has such a step.
    private var recipes: [String: String] = [:]
    /// By the name of a step whose inputs cover what it needs, its key with all that: what needs it has the files of all of
    /// them in its workspace.
    private var wholes: [String: String] = [:]

    /// Works out the key of each step, what it needs first.
    ///
    /// A step whose result is not a matter of files alone gets none, and neither does what needs it: what it leaves in
    /// the workspace may be different each time.
    public init(_ plan: Plan, _ facts: KeyFacts) {
        let steps = Dictionary(plan.steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let common = CommonParts(plan, facts)
        var kind: KindParts?
        // Needs before what needs them, by an explicit stack: a plan may be a chain of thousands.
        for first in plan.steps {
            var stack = [first.name]
            var entered: Set<String> = []
            while let name = stack.last {
                guard standings[name] == nil, let step = steps[name] else {
                    stack.removeLast()
                    continue
                }
                let open = step.needs.filter { standings[$0] == nil && steps[$0] != nil && !entered.contains($0) }
                if !open.isEmpty, entered.insert(name).inserted {
                    stack += open
                    continue
                }
                stack.removeLast()
                let text = step.text
                let given = step.given(facts, text)
                let standing = standing(of: step, text, given, steps, facts, common, &kind)
                standings[name] = standing
                if case .provable = standing {
                    withheld[name] = given.isEmpty ? common.variables : common.variables.subtracting(given.keys)
                    tracked[name] = facts.tracked[step.outputs]?.files
                }
            }
        }
    }

    public subscript(step: String) -> StepKey? {
        if case .provable(let key) = standings[step] { return key }
        return nil
    }

    /// Notes also what of it is in the keys of other steps.
    private mutating func standing(
        of step: PlannedStep, _ text: String, _ given: [String: String], _ steps: [String: PlannedStep],
        _ facts: KeyFacts, _ common: CommonParts, _ kind: inout KindParts?
    ) -> Standing {
        if let reason = Self.obstacle(to: step, text, facts) { return .never(reason) }
        let names = needs(of: step, steps)
        var needs: [String] = []
        for name in names {
            guard let need = step.inputsCoverNeeds ? recipes[name] : whole(name) else {
                return .never("it needs \"\(name)\", which can't be proved")
            }
            needs.append(need)
        }
        let own = kind.flatMap { $0.isOf(step) ? $0 : nil } ?? KindParts(step, facts, common)
        kind = own
        let parts = PartDigests(step, given: given, needs: needs, facts, common, own)
        let key = parts.key
        if facts.distrusted.contains(key.definition) {
            return .never(
                "a proof of it was wrong: `pipectl proofs` shows it, `pipectl proofs trust` trusts the step again")
        }
        if common.wantsRecipes { recipes[step.name] = parts.recipe(needs: names.compactMap { recipes[$0] }) }
        if step.inputsCoverNeeds {
            wholes[step.name] = KeyDigest.of([key.value] + names.compactMap { whole($0) }.sorted())
        }
        return .provable(key)
    }

    private func whole(_ step: String) -> String? { wholes[step] ?? self[step]?.value }

    /// The steps whose keys, or recipes, are in the key of this one.
    private func needs(of step: PlannedStep, _ steps: [String: PlannedStep]) -> [String] {
        var needs: [String] = []
        var waiting = step.needs
        var seen: Set<String> = []
        while let name = waiting.popLast() {
            guard seen.insert(name).inserted, let need = steps[name] else { continue }
            // A gate leaves nothing in the workspace: what is before it counts.
            if need.action == .approval { waiting += need.needs } else { needs.append(name) }
        }
        return needs
    }

    /// Why no earlier result may stand for the step, by what it declares; always in the safe direction.
    private static func obstacle(to step: PlannedStep, _ text: String, _ facts: KeyFacts) -> String? {
        if step.action == .approval { return "it waits for approval" }
        if step.isNeverProved { return "it declares .neverProved()" }
        if !step.secrets.isEmpty { return "it gets secrets" }
        if step.condition != .onSuccess { return "it depends on the results of other steps" }
        if let number = RunNumbers.inText.first(where: { text[...].place(of: $0) != nil }) {
            return "its command uses \(number), which differs in each run"
        }
        if step.inputs.isEmpty {
            if step.network == .allowed { return "it may use the network and declares no .inputs(…)" }
            if facts.isRelease { return "it is a step of a release and declares no .inputs(…)" }
        }
        // What acts on the world is not done again for a tree that comes again, as after a revert.
        if facts.isRelease {
            if !step.isIdempotent { return "it is a step of a release and does not declare .idempotent()" }
            if step.network == .allowed { return "it is a step of a release and may use the network" }
        }
        if facts.canWriteOutside, step.inputs.isEmpty || (step.outputs.isEmpty && !step.leavesNothing) {
            return "it can write to folders of the build box and does not declare both .inputs(…) and .outputs(…)"
        }
        guard let inputs = facts.inputs[step.inputs] else {
            return "its inputs could not be read" + (facts.unread[step.inputs].map { ": \($0)" } ?? "")
        }
        if !step.outputs.isEmpty, facts.tracked[step.outputs] == nil {
            return "the files at its output paths could not be read"
                + (facts.unread[step.outputs].map { ": \($0)" } ?? "")
        }
        if inputs.isEmpty { return "no file matches its .inputs(…); check the patterns" }
        return nil
    }
}

/// What is the same for all steps of a run, worked out once.
private struct CommonParts {
    let workflow: String
    /// Whether a step's inputs cover what it needs.
    let wantsRecipes: Bool
    let environment: [String]
    /// Of a step that declares no variable of its own.
    let environmentDigest: String
    let parameters: String
    let toolchain: String
    let box: String
    /// The compiled workflows, for closures.
    let program: KeyDigest.List
    let nothing = KeyDigest.List([])
    /// The names of all variables of the run.
    let variables: Set<String>

    init(_ plan: Plan, _ facts: KeyFacts) {
        workflow = plan.workflow
        wantsRecipes = plan.steps.contains(where: \.inputsCoverNeeds)
        environment = ["box"] + KeyDigest.lines(facts.environment)
        environmentDigest = KeyDigest.of(environment)
        variables = RunNumbers.names.union(facts.runVariables.keys)
        parameters = KeyDigest.of(KeyDigest.lines(facts.parameters))
        toolchain = KeyDigest.of([facts.toolchain])
        box = KeyDigest.of(facts.box)
        program = KeyDigest.List([facts.program])
    }
}

/// What is the same for all steps of a ``PlannedStep/kind``.
private struct KindParts {
    private let kind: PlannedStep
    let environment: String
    let inputs: String
    let permissions: String
    let results: String
    /// What the workflow says, as it goes into ``StepKey/definition``.
    let declared: KeyDigest.List

    init(_ step: PlannedStep, _ facts: KeyFacts, _ common: CommonParts) {
        kind = step.kind
        let variables = KeyDigest.lines(step.environment)
        let (permissionTexts, resultTexts) = (step.permissionTexts, step.resultTexts)
        environment =
            variables.isEmpty ? common.environmentDigest : KeyDigest.of(variables + common.environment)
        inputs = KeyDigest.of([facts.inputs[step.inputs]?.digest ?? ""] + step.tracked(facts))
        permissions = KeyDigest.of(permissionTexts)
        results = KeyDigest.of(resultTexts)
        // No pattern is empty.
        let inputTexts = (step.inputsCoverNeeds ? ["", "only"] : []) + step.inputs
        declared = KeyDigest.List(variables, inputTexts, permissionTexts, resultTexts)
    }

    func isOf(_ step: PlannedStep) -> Bool { kind == step.kind }
}

/// The digest of each part of a step's key.
private struct PartDigests {
    private typealias Digests = [(part: StepKey.Part, digest: String)]

    /// In the order of the cases.
    private let digests: Digests
    private let definition: String
    private static let nothing = KeyDigest.List([]).hex

    init(
        _ step: PlannedStep, given: [String: String], needs: [String], _ facts: KeyFacts, _ common: CommonParts,
        _ kind: KindParts
    ) {
        var command =
            switch step.action {
            case .shell(let line): ["shell", line]
            case .command(let words): ["command"] + words
            // Two workflows may each have a closure of this name.
            case .closure: ["closure", common.workflow]
            case .approval: ["approval"]
            }
        // The step sees its name.
        command.append(step.name)
        let context = step.context(facts, given)
        let program = step.action == .closure ? common.program : common.nothing
        digests = StepKey.Part.allCases.map { part in
            let digest =
                switch part {
                case .command: KeyDigest.of(command)
                case .environment: kind.environment
                case .parameters: common.parameters
                case .context: context.isEmpty ? Self.nothing : KeyDigest.of(context)
                case .inputs: kind.inputs
                case .permissions: kind.permissions
                case .results: kind.results
                case .toolchain: common.toolchain
                case .box: common.box
                case .program: program.hex
                case .needs: Self.digest(ofNeeds: needs)
                }
            return (part, digest)
        }
        var own = KeyDigest()
        own.add(KeyedPlan.definitionFormat)
        own.add(command)
        own.add(kind.declared)
        own.add(program)
        definition = own.hex()
    }

    private static func digest(ofNeeds needs: [String]) -> String {
        needs.isEmpty ? nothing : KeyDigest.of(needs.sorted())
    }

    var key: StepKey {
        StepKey(
            value: value(KeyedPlan.format, digests), definition: definition,
            parts: Dictionary(uniqueKeysWithValues: digests.map { ($0.part.rawValue, String($0.digest.prefix(16))) }))
    }

    /// All but the inputs.
    ///
    /// - Parameter needs: The recipes of what the step needs.
    func recipe(needs: [String]) -> String {
        let own = digests.filter { $0.part != .inputs && $0.part != .needs }
        return value("\(KeyedPlan.format), without files", own + [(.needs, Self.digest(ofNeeds: needs))])
    }

    private func value(_ format: String, _ digests: Digests) -> String {
        var all = KeyDigest()
        all.add(format)
        for (part, digest) in digests { all.add([part.rawValue, digest]) }
        return all.hex()
    }
}

extension Limits {
    /// One text for each, whether it is set or not.
    package var keyTexts: [String] {
        [
            cpuTime.map { "\($0)" }, memory.map(String.init), processes.map(String.init), fileSize.map(String.init),
            openFiles.map(String.init), output.map(String.init), workspace.map(String.init), wallTime.map { "\($0)" },
        ].map { $0 ?? "-" }
    }
}

extension PlannedStep {
    /// What of the run the step can read: the variables that it is given, and for a closure the whole context.
    fileprivate func context(_ facts: KeyFacts, _ given: [String: String]) -> [String] {
        var read = given
        if Self.callsGit(words + environment.values) { read["git"] = facts.commit }
        return (action == .closure ? facts.closureContext : []) + KeyDigest.lines(read)
    }

    /// The variables of the run that a provable step is given: those that its own text names, and for a closure those that
    /// say what its context says.
    ///
    /// - Parameter text: ``text``.
    fileprivate func given(_ facts: KeyFacts, _ text: String) -> [String: String] {
        if action == .closure { return facts.runVariables.filter { !RunNumbers.ofEachPush.contains($0.key) } }
        return facts.runVariables.filter { text[...].place(of: $0.key) != nil }
    }

    /// What of the tree is kept with its outputs and is not among its inputs anyway.
    fileprivate func tracked(_ facts: KeyFacts) -> [String] {
        guard !inputs.isEmpty, let tracked = facts.tracked[outputs], !tracked.files.isEmpty else { return [] }
        return ["outputs", tracked.digest]
    }

    /// What the workflow says that may name a variable.
    fileprivate var text: String { (words + environment.values).joined(separator: "\n") }

    private var words: [String] {
        switch action {
        case .shell(let line): [line]
        case .command(let arguments): arguments
        case .closure, .approval: []
        }
    }

    /// History is no file: a command that asks git may answer differently for each commit of the same tree.
    private static func callsGit(_ words: [String]) -> Bool {
        words.contains { word in
            // Most don't, which is found out much sooner.
            guard word[...].place(of: "git") != nil else { return false }
            return word.split { !($0.isLetter || $0.isNumber || "-_./".contains($0)) }.contains {
                $0 == "git" || $0.hasSuffix("/git")
            }
        }
    }

    fileprivate var permissionTexts: [String] {
        [network.rawValue, workingDirectory ?? "", hasTerminal ? "terminal" : ""] + limits.keyTexts
            + ["\(timeout)"] + permissions.map(\.rawValue).sorted() + ["caches"]
            + caches.flatMap { [$0.name, $0.path] } + ["values"] + publishes + ["reads"] + reads
    }

    fileprivate var resultTexts: [String] {
        let sources = testResults.flatMap { source in
            switch source {
            case .junit(let glob): ["junit", glob]
            case .swiftTestingEvents(let glob): ["events", glob]
            case .file(let glob): ["file", glob]
            case .swiftPMConsole: ["console"]
            }
        }
        return sources + findingTexts + ["artifacts"] + artifacts + ["outputs", leavesNothing ? "none" : ""] + outputs
    }

    /// Nothing for a step that declares none, as keys had it before there were any.
    private var findingTexts: [String] {
        (findings ?? []).flatMap { source in
            switch source {
            case .sarif(let glob): ["sarif", glob]
            case .output: ["findings in output"]
            case .matching(let rule):
                ["matching", rule.name, rule.severity, "\(rule.templates.count)"] + rule.templates
            }
        }
    }
}
