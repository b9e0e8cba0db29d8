import Foundation
import MachineProtocol

/// What the agent's machine is.
enum ThisMachine {
    static var platform: String {
        #if os(macOS)
            "macos"
        #else
            "linux"
        #endif
    }

    static var architecture: String {
        #if arch(arm64)
            "arm64"
        #else
            "x86_64"
        #endif
    }

    /// The folders of programs, for steps that name none.
    static var searchPath: String {
        let own = ProcessInfo.processInfo.environment["PATH"] ?? ""
        #if os(macOS)
            let usual = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        #else
            let usual = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
        #endif
        return own.isEmpty ? usual : own
    }

    /// The path of a program; nil if it is not installed.
    static func program(_ name: String) -> String? {
        searchPath.split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    static func greeting(sandbox: String?, obstacle: String?) -> AgentGreeting {
        let process = ProcessInfo.processInfo
        return AgentGreeting(
            platform: platform, architecture: architecture, cores: process.activeProcessorCount,
            memory: Int(clamping: process.physicalMemory), sandbox: sandbox, sandboxObstacle: obstacle)
    }
}
