import ForeignText

/// Swift's backtrace with `SWIFT_BACKTRACE=format=json`.
struct SwiftJSON {
    private let parts: JSONParts

    init(_ parts: JSONParts) { self.parts = parts }

    func read() throws(CrashReportError) -> CrashReport {
        let calls = parts.threads.first?["frames"]?.elements ?? []
        guard !calls.isEmpty else { throw CrashReportError.noCrash }
        let images = loadedImages
        var report = CrashReport(format: .swiftBacktrace, reason: parts.line("description") ?? "unknown")
        report.frames = calls.prefix(CrashLimits.frames).map { frame($0, images) }
        report.at = parts["timestamp"]?.text.flatMap(CrashDate.parse)
        report.system = parts.line("platform")
        report.architecture = parts["architecture"]?.text.flatMap(Architecture.name)
        report.settle(images: images.all)
        return report
    }

    private var loadedImages: LoadedImages {
        LoadedImages(
            parts.images.map { image in
                let path = image["path"]?.text?.cleanLine() ?? ""
                let start = image["baseAddress"]?.address ?? 0
                return LoadedImage(
                    name: image["name"]?.text?.cleanLine(200) ?? path.fileName, path: path,
                    identifier: image["buildId"]?.text?.imageIdentifier, start: start,
                    end: image["endOfText"]?.address ?? start)
            })
    }

    private func frame(_ value: JSONValue, _ images: LoadedImages) -> CrashReport.Frame {
        let address = value["address"]?.address
        let image = address.flatMap(images.image(at:)) ?? value["image"]?.text.flatMap(images.image(named:))
        var frame = CrashReport.Frame(image: image?.name ?? value["image"]?.text?.cleanLine(200))
        if let image, let address, address >= image.start {
            let isReturn = value["kind"]?.text == "returnAddress" && address > image.start
            frame.offset = address - image.start - (isReturn ? 1 : 0)
        }
        let described = value["description"]?.text.map(SwiftBacktrace.withoutOffset)
        frame.function = (described ?? value["symbol"]?.text)?.cleanLine()
        SwiftBacktrace.place(
            &frame, file: value["sourceLocation"]?["file"]?.text, line: value["sourceLocation"]?["line"]?.lineNumber,
            column: value["sourceLocation"]?["column"]?.lineNumber)
        let isMarked = value["system"]?.isTrue == true || value["thunk"]?.isTrue == true && frame.file == nil
        frame.isOwn = !isMarked && SwiftBacktrace.isOwn(frame, image)
        return frame
    }
}
