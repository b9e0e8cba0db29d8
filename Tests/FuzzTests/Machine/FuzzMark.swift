import Foundation

/// A small file that names the input being read. After a crash it names the input that ended the process.
struct FuzzMark {
    private let file: FileHandle
    private let url: URL
    private let name: String

    init(target: String, seed: UInt64, folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appending(path: "\(target).at")
        try Data().write(to: url)
        file = try FileHandle(forWritingTo: url)
        name = "--target \(target) --seed \(seed) --first "
    }

    func note(_ iteration: Int) {
        // Always of the same length, so that a shorter number leaves no digits of a longer one.
        let digits = String(iteration)
        let text = name + digits + String(repeating: " ", count: max(0, 20 - digits.count)) + "\n"
        let bytes = Array(text.utf8)
        bytes.withUnsafeBytes { _ = pwrite(file.fileDescriptor, $0.baseAddress, $0.count, 0) }
    }

    func remove() {
        try? file.close()
        try? FileManager.default.removeItem(at: url)
    }
}

/// Limits the memory of a process that only fuzzes.
enum MemoryBudget {
    static let bytes = 1 << 30

    static func hold(_ input: Int) throws {
        var usage = rusage()
        #if os(Linux)
            let who = RUSAGE_SELF.rawValue
            let unit = 1024
        #else
            let who = RUSAGE_SELF
            let unit = 1
        #endif
        guard getrusage(.init(who), &usage) == 0 else { return }
        let peak = Int(usage.ru_maxrss) * unit
        try demand(peak < bytes, "the process has used \(peak) bytes of memory by an input of \(input) bytes")
    }
}
