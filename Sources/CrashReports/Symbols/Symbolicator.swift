import Foundation
import ForeignText

/// Gives calls their functions, files and lines from debug symbols.
public struct Symbolicator: Sendable {
    private let run: SymbolToolRun
    /// The folder with the programs of Swift's toolchain, if it is known.
    private let tools: String?
    /// Whether Apple's `atos` is there.
    private let hasAtos: Bool

    public init(tools: String? = nil, hasAtos: Bool = Self.isMac, run: @escaping SymbolToolRun) {
        (self.tools, self.hasAtos, self.run) = (tools, hasAtos, run)
    }

    /// Whether this is a Mac.
    public static var isMac: Bool {
        #if os(macOS)
            true
        #else
            false
        #endif
    }

    /// The report with what the symbols say, and with names that people can read.
    ///
    /// An image whose build has no symbols in `files` stays as it is: those of another build would say something wrong.
    public func symbolicated(_ report: CrashReport, with files: DebugFiles) async -> CrashReport {
        var report = report
        for image in report.images {
            guard let entry = files.entry(for: image) else { continue }
            // Only calls that the report itself says too little about.
            let wanted = report.frames.indices.filter { index in
                let frame = report.frames[index]
                return frame.image == image.name && frame.offset != nil && (frame.line == nil || frame.function == nil)
            }
            let offsets = wanted.compactMap { report.frames[$0].offset }
            guard !offsets.isEmpty, let found = await places(of: offsets, in: entry), found.count == wanted.count else {
                continue
            }
            for (index, calls) in zip(wanted, found).reversed() {
                let frame = report.frames[index]
                let named = calls.filter { $0.function != nil || $0.file != nil }
                guard !named.isEmpty else { continue }
                report.frames.replaceSubrange(index...index, with: named.map { $0.frame(in: frame) })
            }
        }
        report.frames = Array(report.frames.prefix(CrashLimits.frames))
        return await demangled(report)
    }

    /// The report with its mangled names of Swift made readable, where a demangler is installed.
    public func demangled(_ report: CrashReport) async -> CrashReport {
        let mangled = report.frames.indices.filter { Self.isMangled(report.frames[$0].function ?? "") }
        guard !mangled.isEmpty else { return report }
        let names = mangled.compactMap { report.frames[$0].function }
        let input = names.joined(separator: "\n") + "\n"
        for program in SymbolTools.demanglers(in: tools) {
            guard let output = await run(program, ["--simplified"], input) else { continue }
            let lines = output.split(separator: "\n", omittingEmptySubsequences: false).prefix(names.count)
            guard lines.count == names.count else { continue }
            var report = report
            for (index, line) in zip(mangled, lines) {
                guard let name = String(line).cleanLine() else { continue }
                report.frames[index].function = name
                if OwnCode.isRuntime(function: name) { report.frames[index].isOwn = false }
            }
            return report
        }
        return report
    }

    static func isMangled(_ name: String) -> Bool {
        ["$s", "$S", "_$s", "_$S", "_T0", "$e"].contains { name.hasPrefix($0) }
            && name.utf8.allSatisfy { $0 != 0x20 }
    }

    /// For each offset its calls, the inlined ones first; nil if no tool could tell.
    private func places(of offsets: [UInt64], in entry: DebugFiles.Entry) async -> [[SymbolPlace]]? {
        let addresses = offsets.map { $0 &+ entry.slice.base }
        var arguments = ["--obj=\(entry.path)", "--output-style=JSON", "--inlines", "--functions=linkage"]
        if let architecture = entry.slice.architecture, entry.slice.isMachO {
            arguments.append("--default-arch=\(architecture)")
        }
        let input = addresses.map(hex).joined(separator: "\n") + "\n"
        for program in SymbolTools.symbolizers(in: tools) {
            guard let output = await run(program, arguments, input) else { continue }
            if let places = SymbolPlace.ofLLVM(output, count: offsets.count) { return places }
        }
        // Xcode has no symbolizer of LLVM, but Apple's own, which says nothing about inlined calls.
        guard hasAtos, entry.slice.isMachO else { return nil }
        let load = ["-arch", entry.slice.architecture ?? "arm64", "-l", hex(entry.slice.base), "-fullPath"]
        guard let output = await run("atos", ["-o", entry.path] + load + addresses.map(hex), "") else { return nil }
        return SymbolPlace.ofAtos(output, count: offsets.count)
    }

    private func hex(_ number: UInt64) -> String { "0x" + String(number, radix: 16) }
}

/// What symbols say about an address.
struct SymbolPlace: Equatable {
    var function: String?
    var file: String?
    var line: Int?
    var column: Int?

    func frame(in call: CrashReport.Frame) -> CrashReport.Frame {
        var frame = call
        frame.function = function ?? call.function
        SwiftBacktrace.place(&frame, file: file ?? call.file, line: line ?? call.line, column: column)
        if let file, OwnCode.isSystem(source: file) { frame.isOwn = false }
        if OwnCode.isRuntime(function: frame.function ?? "") { frame.isOwn = false }
        return frame
    }

    /// LLVM's symbolizer with `--output-style=JSON`: an object for each address.
    static func ofLLVM(_ output: String, count: Int) -> [[SymbolPlace]]? {
        // Warnings are among the answers.
        let answers = output.split(separator: "\n").filter { $0.hasPrefix("{") || $0.hasPrefix("[") }
        let bytes = Array(answers.joined(separator: "\n").utf8)
        var isRead = false
        let source = ByteSource {
            defer { isRead = true }
            return isRead ? [] : bytes
        }
        var walk = JSONWalk(JSONTokenizer(source, valueLimit: 4 << 10, depth: 8))
        var places: [[SymbolPlace]] = []
        while places.count < count {
            guard case .value(_, let token) = walk.next(), let value = walk.take(token) else { return nil }
            // One list of all, or one object after another, depending on the version.
            for answer in value.elements.isEmpty ? [value] : value.elements where places.count < count {
                places.append(
                    (answer["Symbol"]?.elements ?? []).prefix(32).map { symbol in
                        SymbolPlace(
                            function: symbol["FunctionName"]?.text?.cleanLine(),
                            file: symbol["FileName"]?.text?.cleanLine(),
                            line: symbol["Line"]?.lineNumber, column: symbol["Column"]?.lineNumber)
                    })
            }
        }
        return places
    }

    /// Apple's `atos -fullPath`: a line for each address, as in `Cart.total() (in Shop) (/src/Cart.swift:12)`.
    static func ofAtos(_ output: String, count: Int) -> [[SymbolPlace]]? {
        let lines = output.split(separator: "\n").map(String.init).filter { !$0.trimmed.isEmpty }
        return lines.count == count ? lines.map { [atosLine($0)] } : nil
    }

    private static func atosLine(_ line: String) -> SymbolPlace {
        guard let image = line.byteRange(of: " (in ") else { return SymbolPlace() }
        var place = SymbolPlace(function: String(line[..<image.lowerBound]).cleanLine())
        if let open = SwiftBacktrace.lastRange(of: " (", line), open.lowerBound > image.lowerBound,
            line.trimmed.hasSuffix(")")
        {
            let inside = String(line[open.upperBound...]).trimmed.dropLast()
            let (file, number, _) = SwiftBacktrace.splitPlace(String(inside))
            if number != nil { (place.file, place.line) = (file.cleanLine(), number) }
        }
        return place
    }
}
