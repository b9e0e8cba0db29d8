import Foundation

/// How much the suite tests: the short form is for every test run, the long one for `script/faults`.
enum Form {
    static let environment = ProcessInfo.processInfo.environment
    static let isLong = environment["FAULTS_FORM"] == "long"
    /// The seed of every random choice; failures print it.
    static let seed = environment["FAULTS_SEED"].flatMap(UInt64.init) ?? 20_261_121
    /// How often the kill loop kills.
    static let kills = environment["FAULTS_KILLS"].flatMap(Int.init) ?? (isLong ? 1_000 : 20)
    /// A folder that gets the numbers of loops and sweeps as JSON.
    static let reports = environment["FAULTS_REPORTS"]

    /// Writes the counts of a loop for `script/faults`.
    static func report(_ name: String, _ facts: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let data = try encoder.encode(facts)
        print("\(name): \(String(decoding: data, as: UTF8.self))")
        guard let reports else { return }
        try data.write(to: URL(fileURLWithPath: "\(reports)/\(name).json"))
    }
}

/// Requirements of tests on the machine.
enum Machine {
    #if os(Linux)
        static let isLinux = true
    #else
        static let isLinux = false
    #endif
    /// Only root can mount small disks and set other users' limits.
    static let isRootOnLinux = isLinux && geteuid() == 0
    /// The start of the first process of the first run. The sandbox's first use is pipectl's own check.
    static let firstProcess = Moment(match: "/bwrap", number: 2)
    /// The fastest disk: loops of thousands of starts would otherwise measure the disk.
    static let fastDisk = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
}
