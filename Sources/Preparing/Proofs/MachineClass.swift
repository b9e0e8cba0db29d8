import Layers
import ProofKeys
import Workspaces
import Engine
import Results
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The class of machine on which a result was made, as far as results may depend on it.
///
/// Installing, removing or updating any package changes the class.
enum MachineClass {
    /// Operating system, processor, system version, and the major version of the kernel.
    static let machine: [String] = {
        var facts = [Report.Machine.current.system]
        #if os(Linux)
            facts += image((try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)) ?? "")
        #else
            let version = ProcessInfo.processInfo.operatingSystemVersion
            facts.append("\(version.majorVersion).\(version.minorVersion)")
        #endif
        var name = utsname()
        if uname(&name) == 0 {
            let release = withUnsafeBytes(of: &name.release) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            facts.append("kernel \(release.prefix { $0 != "." })")
        }
        return facts
    }()

    /// The name and version of a Linux image, from os-release(5).
    static func image(_ text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("ID=") || $0.hasPrefix("VERSION_ID=") }.map {
            String($0.filter { $0 != "\"" })
        }.sorted()
    }

    /// How this daemon runs steps: what their sandbox shows, whether there is a sandbox, and their limits.
    static func facts(_ options: DaemonOptions, _ sandboxing: Sandboxing) -> [String] {
        machine + ["installed", MachineImage.words, "sandbox", sandboxing.sandbox == nil ? "none" : "enclosed"]
            + ["readable"] + options.readable.sorted() + ["writable"] + options.writable.sorted()
            + ["shared"] + options.shared.sorted() + ["limits"] + options.stepLimits.keyTexts
            + options.runLimits.keyTexts
    }
}
