import ArgumentParser
import Git
import Pipeline

/// Reads `memory=4096 processes=200` as limits.
enum LimitOptions {
    static func apply(_ texts: [String], to limits: inout Limits) throws {
        for (name, text) in try ParameterOptions.values(texts).sorted(by: { $0.key < $1.key }) {
            guard let number = Int(text), number >= 0, number < 1 << 40 else {
                throw ValidationError("the limit \(name) takes a whole number from 0, not \"\(text)\"")
            }
            let count = number == 0 ? nil : number
            let bytes = count.map { $0 << 20 }
            switch name {
            case "memory": limits.memory = bytes
            case "file-size": limits.fileSize = bytes
            case "output": limits.output = bytes
            case "workspace": limits.workspace = bytes
            case "cpu-time": limits.cpuTime = count.map(Double.init)
            case "wall-time": limits.wallTime = count.map(Double.init)
            case "processes": limits.processes = count
            case "open-files": limits.openFiles = count
            default:
                throw ValidationError(
                    "there is no limit \"\(name)\"; there are memory, file-size, output, workspace, cpu-time, wall-time, processes and open-files"
                )
            }
        }
    }

    /// Reads `entries=2000000 size=32768 file-size=512` as limits of a commit's files.
    static func apply(_ texts: [String], to limits: inout TreeLimits) throws {
        for (name, text) in try ParameterOptions.values(texts).sorted(by: { $0.key < $1.key }) {
            guard let number = Int(text), number > 0, number < 1 << 40 else {
                throw ValidationError("the tree limit \(name) takes a whole number from 1, not \"\(text)\"")
            }
            switch name {
            case "entries": limits.entries = number
            case "size": limits.bytes = number << 20
            case "file-size": limits.fileBytes = number << 20
            default: throw ValidationError("there is no tree limit \"\(name)\"; there are entries, size and file-size")
            }
        }
    }
}
