import TestIntegrity

@testable import swift_reader

/// Reads in this process what `swift-reader` reads in its own, with the same results.
struct DirectReader: SwiftSourceReader {
    func read(
        _ sources: [SwiftSource], before deadline: ContinuousClock.Instant
    ) async -> [Result<SwiftFileFacts, UnreadableSource>] {
        guard let sources = SwiftReaderProtocol.sources(of: SwiftReaderProtocol.request(sources)) else { return [] }
        var answer: [UInt8] = []
        _ = DeepStack.run(bytes: DeepStack.bytes) {
            for source in sources { answer += SwiftReaderProtocol.line(FileReading.facts(of: source)) }
        }
        return SwiftReaderProtocol.results(of: answer)
    }
}
