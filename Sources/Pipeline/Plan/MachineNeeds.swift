/// A property of a machine that a step can ask for: its system, its processor, or a label.
///
/// A Slurm cluster calls them features. A trait is its name in small letters: `macos`, `arm64`, `gpu`.
public struct MachineTrait: Sendable, Hashable, Codable {
    /// A kind of processor.
    public enum Architecture: String, Sendable, Hashable, Codable, CaseIterable {
        /// 64-bit ARM, such as Apple silicon.
        case arm64
        /// 64-bit Intel and AMD.
        case x64 = "x86_64"
    }

    /// The name, as `pipectl plan` shows it.
    public let name: String

    /// The trait of this name.
    package init(name: String) { self.name = name }

    /// A Mac.
    public static let macOS = MachineTrait(name: "macos")
    /// A machine with Linux.
    public static let linux = MachineTrait(name: "linux")
    /// A machine with this kind of processor.
    public static func arch(_ architecture: Architecture) -> MachineTrait { MachineTrait(name: architecture.rawValue) }
    /// A machine with a label that people gave it.
    public static func label(_ name: String) -> MachineTrait { MachineTrait(name: name) }

    /// Reads a name.
    public init(from decoder: any Decoder) throws { name = try decoder.singleValueContainer().decode(String.self) }

    /// Writes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }

    /// Traits of which a machine has one at most.
    package static let exclusive: [[MachineTrait]] = [[.macOS, .linux], Architecture.allCases.map { .arch($0) }]

    /// Whether pipectl itself finds out if a machine has it; nobody can give it as a label.
    package var isMeasured: Bool { MachineTrait.exclusive.contains { $0.contains(self) } }

    /// Why the name can't be a trait, as the rest of a sentence that begins with the name; nil if it can.
    ///
    /// Slurm gives `&`, `|`, `!` and others a meaning in constraints, so few characters are allowed.
    package var problem: String? {
        if name.isEmpty || name.utf8.count > 60 { return "has \(name.utf8.count) bytes; a label has 1 to 60" }
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isPlain else { return "is no label; use small letters, digits, -, _ and ." }
        guard let first = name.first, first.isLetter || first.isNumber else {
            return "is no label; begin it with a letter or digit"
        }
        return nil
    }
}

/// What a step needs of the machine that runs it.
public struct MachineNeeds: Sendable, Hashable, Codable {
    /// All of these are needed; sorted by name.
    public var traits: [MachineTrait]
    /// Processors that the step has for itself; nil: it does not say.
    public var cpus: Int?
    /// Bytes of memory that the step has for itself; nil: it does not say.
    public var memory: Int?

    /// These needs; without arguments, none.
    public init(traits: [MachineTrait] = [], cpus: Int? = nil, memory: Int? = nil) {
        self.traits = Set(traits).sorted { $0.name < $1.name }
        self.cpus = cpus
        self.memory = memory
    }

    /// Whether any machine will do.
    public var isEmpty: Bool { traits.isEmpty && cpus == nil && memory == nil }

    /// The needs of a machine that is good enough for both.
    package func and(_ other: MachineNeeds) -> MachineNeeds {
        func most(_ a: Int?, _ b: Int?) -> Int? {
            guard let a, let b else { return a ?? b }
            return max(a, b)
        }
        return MachineNeeds(
            traits: traits + other.traits, cpus: most(cpus, other.cpus), memory: most(memory, other.memory))
    }

    /// These needs, completed by those of the workflow: where a step says how many processors it needs, that counts,
    /// and where it names a system or a processor, it replaces the workflow's.
    package func or(_ others: MachineNeeds) -> MachineNeeds {
        let inherited = others.traits.filter { trait in
            guard let group = MachineTrait.exclusive.first(where: { $0.contains(trait) }) else { return true }
            return !traits.contains { group.contains($0) }
        }
        return MachineNeeds(
            traits: traits + inherited, cpus: cpus ?? others.cpus, memory: memory ?? others.memory)
    }

    /// In words for people, each need by itself: `macos`, `4 CPUs`, `8.0 GiB of memory`.
    package var words: [String] {
        traits.map(\.name) + [cpus.map { $0 == 1 ? "1 CPU" : "\($0) CPUs" }].compactMap { $0 }
            + [memory.map { "\(ByteCount(bytes: $0)) of memory" }].compactMap { $0 }
    }
}

extension Plan {
    /// What a machine must offer that runs all steps of the plan.
    package var machineNeeds: MachineNeeds {
        steps.reduce(MachineNeeds()) { needs, step in step.machine.map(needs.and) ?? needs }
    }
}

extension PlannedStep {
    /// The step, with what its workflow says about the machines of all its steps.
    func onMachine(with common: MachineNeeds?) -> PlannedStep {
        guard action.startsProcess, let common else { return self }
        var step = self
        step.machine = (machine ?? MachineNeeds()).or(common)
        return step
    }
}
