import Foundation
import Testing

@testable import BuildBox

/// What is given back must not be missed.
@Suite struct MemoryTests {
    @Test func releasingTakesNothingThatIsNeeded() {
        let kept = (0..<1_000).map { "\($0)" }
        for _ in 0..<3 { Memory.release() }
        #expect(kept.joined().count == 2_890)
        #expect((try? JSONEncoder().encode(kept))?.isEmpty == false)
    }

    #if os(Linux)
        @Test func onlyWhatIsAsInItsFileIsDropped() throws {
            let mapped = MappedCode.all()
            #expect(mapped.count > 5, "the program, the C library and others have code")
            let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
            for mapping in mapped {
                let start = String(UInt(bitPattern: mapping.start), radix: 16)
                // Another test's thread may have unmapped it meanwhile.
                guard let line = maps.split(separator: "\n").first(where: { $0.hasPrefix("\(start)-") }) else {
                    continue
                }
                let rights = line.split(separator: " ")[1]
                #expect(rights == "r-xp" || rights == "r--p", "\(line)")
            }
        }
    #endif
}
