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

    /// The variables that name folders or the user of a machine, as they are on this one; nil where it has none.
    static var variables: [String: String?] {
        let own = ProcessInfo.processInfo.environment
        let names = [
            "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "SDKROOT", "DEVELOPER_DIR", "TOOLCHAINS", "SSL_CERT_FILE",
            "SSL_CERT_DIR", "JAVA_HOME", "LD_LIBRARY_PATH",
        ]
        var variables = Dictionary(names.map { ($0, own[$0]) }, uniquingKeysWith: { first, _ in first })
        variables["PATH"] = searchPath
        return variables
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
