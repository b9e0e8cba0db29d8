import ForeignText

/// Apple's `.ips`: a line of JSON with the name of the program, then a document with the threads.
struct AppleJSON {
    private let parts: JSONParts

    init(_ parts: JSONParts) { self.parts = parts }

    func read() throws(CrashReportError) -> CrashReport {
        let images = loadedImages
        let exception = parts["lastExceptionBacktrace"]?.elements ?? []
        let thread = parts.threads.first?["frames"]?.elements ?? []
        // An exception that nobody caught ends the program later, elsewhere.
        let calls = exception.isEmpty ? thread : exception
        guard !calls.isEmpty else { throw CrashReportError.noCrash }
        var report = CrashReport(format: .appleJSON, reason: reason)
        report.frames = calls.prefix(CrashLimits.frames).enumerated().map { frame($1, at: $0, images) }
        report.program = (parts["procName"]?.text ?? parts["app_name"]?.text)?.cleanLine(200)
        report.bundle = (parts["bundleInfo"]?["CFBundleIdentifier"]?.text ?? parts["bundleID"]?.text)?.cleanLine(200)
        report.version =
            (parts["bundleInfo"]?["CFBundleShortVersionString"]?.text ?? parts["app_version"]?.text)?.cleanLine(100)
        report.build = (parts["bundleInfo"]?["CFBundleVersion"]?.text ?? parts["build_version"]?.text)?.cleanLine(100)
        report.at = (parts["captureTime"]?.text ?? parts["timestamp"]?.text).flatMap(CrashDate.parse)
        report.system = parts.line("os_version") ?? system
        report.architecture = parts["cpuType"]?.text.flatMap(Architecture.name)
        report.message = message
        report.settle(images: images)
        return report
    }

    private var system: String? {
        guard let train = parts["osVersion"]?["train"]?.text else { return nil }
        let build = parts["osVersion"]?["build"]?.text.map { " (\($0))" } ?? ""
        return (train + build).cleanLine(200)
    }

    private var reason: String {
        let exception = parts["exception"]
        let kind = exception?["type"]?.text ?? parts["termination"]?["namespace"]?.text
        let signal = exception?["signal"]?.text.map { " (\($0))" } ?? ""
        return (kind.map { $0 + signal } ?? parts["termination"]?["indicator"]?.text)?.cleanLine(200) ?? "unknown"
    }

    /// What the program said, else what the system says.
    private var message: String? {
        if let composed = parts["exceptionReason"]?["composed_message"]?.text { return composed.cleanText() }
        var said: [String] = []
        if case .object(let byImage)? = parts["asi"] {
            for image in byImage.keys.sorted() { said += byImage[image]?.elements.compactMap(\.text) ?? [] }
        }
        said.removeAll { $0.trimmed == "abort() called" }
        if !said.isEmpty { return said.joined(separator: "\n").cleanText() }
        let termination = parts["termination"]
        let reasons = (termination?["reasons"]?.elements ?? []) + (termination?["details"]?.elements ?? [])
        if !reasons.isEmpty { return reasons.compactMap(\.text).joined(separator: "\n").cleanText() }
        return (parts["exception"]?["message"] ?? parts["exception"]?["subtype"] ?? termination?["indicator"])?.text?
            .cleanText()
    }

    private var loadedImages: [LoadedImage] {
        let program = parts["procPath"]?.text
        return parts.images.map { image in
            let path = image["path"]?.text?.cleanLine() ?? ""
            let start = image["base"]?.address ?? 0
            return LoadedImage(
                name: image["name"]?.text?.cleanLine(200) ?? (path.isEmpty ? "???" : path.fileName), path: path,
                identifier: image["uuid"]?.text?.imageIdentifier, architecture: image["arch"]?.text?.cleanLine(20),
                start: start, end: start.addingReportingOverflow(image["size"]?.address ?? 0).partialValue,
                isProgram: program != nil && program == image["path"]?.text)
        }
    }

    private func frame(_ value: JSONValue, at index: Int, _ images: [LoadedImage]) -> CrashReport.Frame {
        let image = value["imageIndex"]?.int.flatMap { images.indices.contains($0) ? images[$0] : nil }
        let offset = value["imageOffset"]?.address
        var frame = CrashReport.Frame(image: image.map(\.name) ?? "???")
        // Only the innermost address is that of an instruction that ran last.
        frame.offset = offset.map { index > 0 && $0 > 0 ? $0 - 1 : $0 }
        if image == nil || image?.name == "???" { frame.offset = nil }
        frame.function = value["symbol"]?.text?.cleanLine()
        frame.file = value["sourceFile"]?.text?.cleanLine()
        frame.line = value["sourceLine"]?.lineNumber
        if frame.file?.contains("<compiler-generated>") == true { (frame.file, frame.line) = (nil, nil) }
        frame.isOwn =
            image?.isOwn == true && !OwnCode.isRuntime(function: frame.function ?? "")
            && !OwnCode.isSystem(source: frame.file ?? "")
        return frame
    }
}

/// The names of processors.
enum Architecture {
    /// `ARM-64 (Native)`, `X86-64` as the tools name them.
    static func name(_ text: String) -> String? {
        let lower = text.lowercased()
        if lower.hasPrefix("arm-64") || lower.hasPrefix("arm64") || lower.hasPrefix("aarch64") { return "arm64" }
        if lower.hasPrefix("x86-64") || lower.hasPrefix("x86_64") { return "x86_64" }
        if lower.hasPrefix("x86") || lower.hasPrefix("i386") { return "i386" }
        if lower.hasPrefix("arm") { return "armv7" }
        return text.cleanLine(20)
    }
}
