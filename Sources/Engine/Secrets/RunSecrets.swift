public import Masking
public import Results
public import Pipeline
import Sandbox

import SystemPackage

/// The secrets that a run is given, resolved once before its first step.
public struct RunSecrets: Sendable {
    private let values: [String: Secret]
    /// By the name of a secret that can't be given, the reason and the next step in one sentence.
    private let missing: [String: String]
    private let isWithheld: Bool

    /// Masks the values in everything that the run leaves; nil if there is nothing to mask.
    public let masker: Masker?

    /// - Parameter missing: By the name of each secret without a value, the reason and the next step.
    public init(_ values: [Secret], missing: [String: String] = [:]) {
        self.values = Dictionary(values.map { ($0.name, $0) }) { first, _ in first }
        self.missing = missing
        isWithheld = false
        masker = Masker(values)
    }

    private init(isWithheld: Bool) {
        (values, missing, masker) = ([:], [:], nil)
        self.isWithheld = isWithheld
    }

    /// No secret is set: a step that names one does not start.
    public static let none = RunSecrets(isWithheld: false)
    /// The run is not trusted: its steps start without the secrets that they name.
    public static let withheld = RunSecrets(isWithheld: true)

    /// By name, the secrets that `step` names and the run gets.
    package func bytes(for step: PlannedStep) -> [String: [UInt8]] {
        Dictionary(
            step.secrets.compactMap { use in values[use.name].map { (use.name, $0.bytes) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Why `step` can't start; nil if it can.
    package func obstacle(to step: PlannedStep) -> String? {
        let all = obstacles(to: step)
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    /// Everything that keeps `step` from starting, one sentence for each secret.
    package func obstacles(to step: PlannedStep) -> [String] {
        guard !isWithheld else { return [] }
        return step.secrets.compactMap { use in
            guard let secret = values[use.name] else {
                return missing[use.name] ?? "secret \(use.name) is not set: `pipectl secrets set \(use.name)`"
            }
            guard use.delivery == .environment, secret.variableValue == nil else { return nil }
            return
                "secret \(use.name) can't be a variable, because it is not text: use .secrets(\"\(use.name)\"), "
                + "which provides a file"
        }
    }

    /// The secrets that `step` names, for its command. A step that is given any has a sandbox of its own.
    func given(to step: PlannedStep) -> [StepSecret] {
        guard !isWithheld else { return [] }
        return step.secrets.compactMap { use in
            guard let secret = values[use.name] else { return nil }
            switch use.delivery {
            case .file:
                return StepSecret(
                    variable: use.variable, content: .file(SecretFile(name: secret.name, bytes: secret.bytes)))
            case .environment:
                return secret.variableValue.map { StepSecret(variable: use.variable, content: .text($0)) }
            }
        }
    }

    /// Findings for the report: which steps ran without secrets, and which secrets could not be masked.
    public func findings(for plan: Plan) -> [Finding] {
        let named = plan.steps.filter { !$0.secrets.isEmpty }
        guard !named.isEmpty else { return [] }
        if isWithheld {
            let steps = named.map { "\"\($0.name)\" (\($0.secrets.map(\.name).joined(separator: ", ")))" }
            return [
                Finding(
                    rule: "secrets-withheld", severity: .note,
                    message:
                        "only runs of merged code get secrets; these steps ran without them: \(steps.joined(separator: ", "))"
                )
            ]
        }
        let short = Set(named.flatMap(\.secrets).map(\.name)).sorted().filter { values[$0]?.isMaskable == false }
        return short.map { name in
            Finding(
                rule: "secret-not-masked", severity: .warning,
                message:
                    "secret \(name) has fewer than \(Secret.shortestMaskable) bytes and is not masked: such a short "
                    + "text appears in other output by chance",
                suggestion: "give it a longer value, then `pipectl secrets set \(name)`")
        }
    }
}

extension RunSecrets: CustomStringConvertible, CustomReflectable {
    public var description: String { isWithheld ? "secrets withheld" : "\(values.count) secrets" }
    public var customMirror: Mirror { Mirror(self, children: ["names": values.keys.sorted()]) }
}

extension Secret {
    /// The value as an environment variable can hold it, without trailing line feeds; nil if it contains NUL or is not
    /// UTF-8.
    fileprivate var variableValue: String? {
        let trimmed = bytes.withoutLineEnds
        return trimmed.contains(0) ? nil : String(validating: trimmed, as: UTF8.self)
    }
}
