import ArgumentParser
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
}
