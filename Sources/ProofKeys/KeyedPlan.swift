import ForeignText
import Diagnostics
public import Results
public import Pipeline

/// The keys of a plan's steps, and why some steps have none.
public struct KeyedPlan: Sendable, Equatable {
    /// Whether an earlier result may be used in place of running a step.
    public enum Standing: Sendable, Equatable {
        /// A result with this key may be used.
        case provable(StepKey)
        /// No result may be used. The value is the predicate of a sentence whose subject is the step: "*uses the
        /// network*".
        case never(String)
    }

    /// The version of the key's content. A newer pipectl ignores proofs of an older version.
    static let format = "pipectl step key 4"
    /// The version of ``StepKey/definition``. It changes rarely, so that a distrusted step stays distrusted.
    fileprivate static let definitionFormat = "pipectl step key 2"

    /// By the name of the step.
    public private(set) var standings: [String: Standing] = [:]
    /// By the name of a provable step, the variables of the run that it is not given, because they are not in its key.
    ///
    /// If a script could read such a variable, its result would depend on a value that no key covers.
    public private(set) var withheld: [String: Set<String>] = [:]
    /// By the name of the step, the tracked files at the paths of its outputs.
    public private(set) var tracked: [String: [String]] = [:]
    /// By the name of the step, the digest of everything except files that its result depends on, including that of the
    /// steps it needs. A step whose own inputs cover what it needs uses this instead of their keys. Empty unless the
    /// plan has such a step.
    private var recipes: [String: String] = [:]
    /// By the name of a step whose inputs cover what it needs, its key together with the keys of all steps before it:
    /// steps that need it have the files of all of these in their workspace.
    private var wholes: [String: String] = [:]

    /// Computes the key of each step, needs first.
    ///
    /// A step whose result does not depend on files alone has no key. Steps that need it have none either, because what
    /// it leaves in the workspace may differ each time.
    public init(_ plan: Plan, _ facts: KeyFacts) {
        let steps = Dictionary(plan.steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let common = CommonParts(plan, facts)
        var kind: KindParts?
        // Needs come before the steps that need them. The stack is explicit, because a plan may be a chain of
        // thousands.
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

    /// The key of a step; nil if the step has no key.
    public subscript(step: String) -> StepKey? {
        if case .provable(let key) = standings[step] { return key }
        return nil
    }

    /// Computes the standing of a step, and records what goes into the keys of steps that need it.
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

    /// The steps whose keys or recipes are part of this step's key.
    private func needs(of step: PlannedStep, _ steps: [String: PlannedStep]) -> [String] {
        var needs: [String] = []
        var waiting = step.needs
        var seen: Set<String> = []
        while let name = waiting.popLast() {
            guard seen.insert(name).inserted, let need = steps[name] else { continue }
            // A step without a process leaves nothing in the workspace, so the steps before it count instead.
            if !need.action.startsProcess { waiting += need.needs } else { needs.append(name) }
        }
        return needs
    }

    /// Why no earlier result may be used for the step, according to its declaration. When in doubt there is a reason.
    private static func obstacle(to step: PlannedStep, _ text: String, _ facts: KeyFacts) -> String? {
        if step.action == .approval { return "it waits for approval" }
        if !step.action.startsProcess { return "the daemon makes or publishes a release in it" }
        if step.isNeverProved { return "it declares .neverProved()" }
        if !step.secrets.isEmpty { return "it gets secrets" }
        if step.condition != .onSuccess { return "it depends on the results of other steps" }
        if let number = RunNumbers.inText.first(where: { text.byteRange(of: $0) != nil }) {
            return "its command uses \(number), which differs in each run"
        }
        if step.inputs.isEmpty {
            if step.network == .allowed { return "it may use the network and declares no .inputs(…)" }
            if facts.isRelease { return "it is a step of a release and declares no .inputs(…)" }
        }
        // An effect outside is not skipped when the same tree comes again, as after a revert.
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

/// What all steps of a run have in common, computed once.
private struct CommonParts {
    let workflow: String
    /// Whether any step's inputs cover what it needs.
    let wantsRecipes: Bool
    let environment: [String]
    /// The digest of the environment of a step that declares no variables of its own.
    let environmentDigest: String
    let parameters: String
    let toolchain: String
    let machine: String
    /// The compiled workflow program, for closures.
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
        machine = KeyDigest.of(facts.machine)
        program = KeyDigest.List([facts.program])
    }
}

/// What all steps with the same ``PlannedStep/kind`` have in common.
private struct KindParts {
    private let kind: PlannedStep
    let environment: String
    let inputs: String
    let permissions: String
    let results: String
    /// The step's declaration, as part of ``StepKey/definition``.
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
        // No pattern is empty, so the empty text can mark this case.
        let inputTexts = (step.inputsCoverNeeds ? ["", "only"] : []) + step.inputs
        declared = KeyDigest.List(variables, inputTexts, permissionTexts, resultTexts)
    }

    func isOf(_ step: PlannedStep) -> Bool { kind == step.kind }
}

/// The digests of the parts of a step's key.
private struct PartDigests {
    private typealias Digests = [(part: StepKey.Part, digest: String)]

    /// In the order of the enum's cases.
    private let digests: Digests
    private let definition: String
    private static let nothing = KeyDigest.List([]).hex

    init(
        _ step: PlannedStep, given: [String: String], needs: [String], _ facts: KeyFacts, _ common: CommonParts,
        _ kind: KindParts
    ) {
        var command: [String] =
            switch step.action {
            case .shell(let line): ["shell", line]
            case .command(let words): ["command"] + words
            // Two workflows may each have a closure with this name.
            case .closure: ["closure", common.workflow]
            // Such a step has no key.
            case .approval, .release, .publish: []
            }
        // The step can read its own name.
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
                case .machine: common.machine
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

    /// The digest of all parts except the inputs.
    ///
    /// - Parameter needs: The recipes of the steps that this step needs.
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
    /// One text for each limit, whether it is set or not.
    package var keyTexts: [String] {
        [
            cpuTime.map { "\($0)" }, memory.map(String.init), processes.map(String.init), fileSize.map(String.init),
            openFiles.map(String.init), output.map(String.init), workspace.map(String.init), wallTime.map { "\($0)" },
        ].map { $0 ?? "-" }
    }
}

extension PlannedStep {
    /// The facts about the run that the step can read: its variables, and for a closure the whole context.
    fileprivate func context(_ facts: KeyFacts, _ given: [String: String]) -> [String] {
        var read = given
        if Self.callsGit(words + environment.values) { read["git"] = facts.commit }
        return (action == .closure ? facts.closureContext : []) + KeyDigest.lines(read)
    }

    /// The variables of the run that a provable step is given: those that its own text names, and for a closure those
    /// that repeat what its context holds.
    ///
    /// - Parameter text: The value of ``text``.
    fileprivate func given(_ facts: KeyFacts, _ text: String) -> [String: String] {
        if action == .closure { return facts.runVariables.filter { !RunNumbers.ofEachPush.contains($0.key) } }
        return facts.runVariables.filter { text.byteRange(of: $0.key) != nil }
    }

    /// The output patterns of the step whose tracked files are not among its inputs anyway.
    fileprivate func tracked(_ facts: KeyFacts) -> [String] {
        guard !inputs.isEmpty, let tracked = facts.tracked[outputs], !tracked.files.isEmpty else { return [] }
        return ["outputs", tracked.digest]
    }

    /// All text of the declaration that may name a variable.
    fileprivate var text: String { (words + environment.values).joined(separator: "\n") }

    private var words: [String] {
        switch action {
        case .shell(let line): [line]
        case .command(let arguments): arguments
        case .closure, .approval, .release, .publish: []
        }
    }

    /// Whether a command calls git. History is not part of the tree, so git may answer differently for two commits with
    /// the same tree.
    private static func callsGit(_ words: [String]) -> Bool {
        words.contains { word in
            // A quick search rules out most commands.
            guard word.byteRange(of: "git") != nil else { return false }
            return word.split { !($0.isLetter || $0.isNumber || "-_./".contains($0)) }.contains {
                $0 == "git" || $0.hasSuffix("/git")
            }
        }
    }

    fileprivate var permissionTexts: [String] {
        [network.rawValue, workingDirectory ?? "", hasTerminal ? "terminal" : ""] + limits.keyTexts
            + ["\(timeout)"] + permissions.map(\.rawValue).sorted() + ["caches"]
            + caches.flatMap { [$0.name, $0.path] } + ["values"] + publishes + ["reads"] + reads
            // Nothing for a step that says nothing, so that its key is the same as before machines existed.
            + (machine.map { ["machine"] + $0.words } ?? [])
            + (shard.map { ["shard", "\($0.number)", "\($0.count)"] + ($0.list.map { ["list", $0] } ?? []) } ?? [])
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

    /// Empty for a step that declares no findings, so that its key is the same as before findings existed.
    private var findingTexts: [String] {
        (findings ?? []).flatMap { source in
            switch source {
            case .sarif(let glob): ["sarif", glob]
            case .codeScanning(let glob): ["code scanning", glob]
            case .output: ["findings in output"]
            case .matching(let rule):
                ["matching", rule.name, rule.severity, "\(rule.templates.count)"] + rule.templates
            }
        }
    }
}
