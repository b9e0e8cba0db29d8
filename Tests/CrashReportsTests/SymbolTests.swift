import Foundation
import TestBasics
import Testing

@testable import CrashReports

struct SymbolTests {
    /// The header of a Mach-O file with a UUID and a `__TEXT` segment at 0x100000000.
    static func machO(_ uuid: [UInt8], processor: UInt32 = 0x0100_000C) -> [UInt8] {
        func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        func long(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        let segment =
            word(0x19) + word(72) + Array("__TEXT".utf8) + [UInt8](repeating: 0, count: 10) + long(0x1_0000_0000)
            + long(0x4000) + long(0) + long(0x4000) + word(5) + word(5) + word(0) + word(0)
        let identity = word(0x1B) + word(24) + uuid
        let commands = segment + identity
        return word(0xFEED_FACF) + word(processor) + word(0) + word(10) + word(2) + word(UInt32(commands.count))
            + word(0)
            + word(0) + commands
    }

    static func fat(_ slices: [[UInt8]]) -> [UInt8] {
        func word(_ value: UInt32) -> [UInt8] {
            (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var offset = 4_096
        var header = word(0xCAFE_BABE) + word(UInt32(slices.count))
        var body: [UInt8] = []
        for slice in slices {
            header += word(0) + word(0) + word(UInt32(offset)) + word(UInt32(slice.count)) + word(12)
            body += slice + [UInt8](repeating: 0, count: 4_096 - slice.count)
            offset += 4_096
        }
        return header + [UInt8](repeating: 0, count: 4_096 - header.count) + body
    }

    private func read(_ bytes: [UInt8]) -> ObjectFile? {
        ObjectFile(size: bytes.count) { offset, count in
            Array(bytes.dropFirst(max(0, offset)).prefix(max(0, count)))
        }
    }

    @Test func uuidsOfMachO() throws {
        let one = [UInt8](0..<16)
        let two = [UInt8](16..<32)
        let slice = try #require(read(Self.machO(one))?.slices.first)
        #expect(slice.identifier == "000102030405060708090a0b0c0d0e0f")
        #expect(slice.architecture == "arm64")
        #expect(slice.base == 0x1_0000_0000)
        let both = try #require(read(Self.fat([Self.machO(one), Self.machO(two, processor: 0x0100_0007)])))
        #expect(both.slices.map(\.architecture) == ["arm64", "x86_64"])
        #expect(both.slices.map(\.identifier).last == "101112131415161718191a1b1c1d1e1f")
    }

    @Test func brokenHeadersAreRefused() {
        let whole = Self.machO([UInt8](0..<16))
        for end in 0..<whole.count { _ = read(Array(whole[..<end])) }
        for index in whole.indices {
            var bytes = whole
            bytes[index] = 0xFF
            _ = read(bytes)
        }
        #expect(read([]) == nil)
        #expect(read(Array("#!/bin/sh\n".utf8) + [UInt8](repeating: 0, count: 100)) == nil)
        // A Java class, whose first bytes are the same.
        #expect(read([0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61] + [UInt8](repeating: 1, count: 200)) == nil)
        #expect(read([0x7F, 0x45, 0x4C, 0x46, 2, 1] + [UInt8](repeating: 0xFF, count: 200)) == nil)
    }

    @Test func debugFilesAreFoundInABundle() throws {
        let folder = try TemporaryFolder()
        let uuid = [UInt8](repeating: 0xAB, count: 16)
        try folder.write("Shop.app.dSYM/Contents/Info.plist", Array("<plist/>".utf8))
        try folder.write("Shop.app.dSYM/Contents/Resources/DWARF/Shop", Self.machO(uuid))
        try folder.write("Shop.app/Shop", Self.machO(uuid))
        let files = DebugFiles(below: folder.path)
        let image = CrashReport.Image(name: "Shop", identifier: String(repeating: "ab", count: 16))
        #expect(files.entry(for: image)?.path.hasSuffix("DWARF/Shop") == true)
        #expect(
            files.entry(for: CrashReport.Image(name: "Shop", identifier: String(repeating: "cd", count: 16))) == nil)
        #expect(files.entry(for: CrashReport.Image(name: "Shop")) == nil)
    }

    @Test func answersOfTheTools() {
        let llvm = """
            warning: ignored line
            {"Address":"0x10","ModuleName":"shop","Symbol":[{"Column":5,"FileName":"/s/a.swift","FunctionName":"inner","Line":3},\
            {"Column":1,"FileName":"/s/a.swift","FunctionName":"outer","Line":9}]}
            {"Address":"0x20","ModuleName":"shop","Symbol":[]}
            """
        let places = SymbolPlace.ofLLVM(llvm, count: 2)
        #expect(places?[0].map(\.function) == ["inner", "outer"])
        #expect(places?[0].first?.line == 3)
        #expect(places?[1].isEmpty == true)
        #expect(SymbolPlace.ofLLVM("[\(llvm.split(separator: "\n")[1])]", count: 1)?[0].count == 2)
        #expect(SymbolPlace.ofLLVM(llvm, count: 3) == nil)
        #expect(SymbolPlace.ofLLVM("no symbols", count: 1) == nil)
        let atos = "Cart.total() (in Shop) (/s/Cart.swift:12)\n0x0000000100001234\n-[A b:] (in Shop) + 12\n"
        #expect(
            SymbolPlace.ofAtos(atos, count: 3) == [
                [SymbolPlace(function: "Cart.total()", file: "/s/Cart.swift", line: 12)], [SymbolPlace()],
                [SymbolPlace(function: "-[A b:]")],
            ])
        #expect(SymbolPlace.ofAtos(atos, count: 2) == nil)
    }

    /// A tool that answers with what it is asked for.
    @Test func onlySymbolsOfTheSameBuildAreUsed() async throws {
        let folder = try TemporaryFolder()
        try folder.write("Shop", Self.machO([UInt8](repeating: 0xAB, count: 16)))
        let symbolicator = Symbolicator(hasAtos: false) { program, arguments, input in
            guard program == "llvm-symbolizer" else { return nil }
            #expect(input == "0x100000010\n")
            return #"{"Symbol":[{"FileName":"/s/Cart.swift","FunctionName":"Cart.total()","Line":7}]}"#
        }
        func report(_ identifier: String) -> CrashReport {
            CrashReport(
                format: .appleJSON, reason: "EXC_CRASH",
                frames: [CrashReport.Frame(image: "Shop", offset: 0x10, isOwn: true)],
                images: [CrashReport.Image(name: "Shop", identifier: identifier)])
        }
        let files = DebugFiles(below: folder.path)
        let known = await symbolicator.symbolicated(report(String(repeating: "ab", count: 16)), with: files)
        #expect(known.frames.map(\.function) == ["Cart.total()"])
        #expect(known.frames[0].line == 7)
        let other = await symbolicator.symbolicated(report(String(repeating: "cd", count: 16)), with: files)
        #expect(other.frames[0].function == nil)
    }

    static let run: SymbolToolRun = { program, arguments, input in
        guard let ended = try? await CommandRunner().end(of: ["/usr/bin/env", program] + arguments, input: input),
            ended.code == 0
        else { return nil }
        return ended.output
    }

    static let hasTools =
        succeeds(["/usr/bin/env", "cc", "--version"]) && succeeds(["/usr/bin/env", "llvm-symbolizer", "--version"])

    /// A program that a compiler made, its offsets by its own symbol table.
    @Test(.enabled(if: hasTools), .timeLimit(.minutes(2)))
    func aRealProgram() async throws {
        let folder = try TemporaryFolder(.disk)
        let source = try folder.write(
            "cart.c", Array("int total(int i) {\n    return i / 3;\n}\nint main(void) { return total(7); }\n".utf8))
        #if os(macOS)
            let flags = ["-g"]
        #else
            let flags = ["-g", "-Wl,--build-id=sha1"]
        #endif
        try await runCommand("/usr/bin/env", "cc", flags[0], flags.last ?? "-g", "-o", folder["shop"], source)
        #if os(macOS)
            try await runCommand("/usr/bin/env", "dsymutil", folder["shop"])
        #endif
        let object = try #require(DebugFiles(below: folder.path).entries.first)
        let symbols = try await runCommand("/usr/bin/env", "nm", folder["shop"])
        let line = try #require(
            symbols.split(separator: "\n").first { $0.hasSuffix(" total") || $0.hasSuffix(" _total") })
        let address = try #require(UInt64(line.prefix { $0 != " " }, radix: 16))
        let report = CrashReport(
            format: .swiftBacktrace, reason: "Aborted",
            frames: [CrashReport.Frame(image: "shop", offset: address - object.value.slice.base + 4, isOwn: true)],
            images: [CrashReport.Image(name: "shop", identifier: object.key)])
        let found = await Symbolicator(run: Self.run).symbolicated(report, with: DebugFiles(below: folder.path))
        let frame = try #require(found.frames.first)
        #expect(frame.function?.contains("total") == true)
        #expect(frame.file?.hasSuffix("cart.c") == true)
        #expect((1...3).contains(frame.line ?? 0))
    }

    @Test func namesOfSwiftAreDemangledWhereThatIsPossible() async {
        let report = CrashReport(
            format: .appleJSON, reason: "EXC_CRASH",
            frames: [
                CrashReport.Frame(image: "Shop", function: "$s4Shop4CartV5totalSiyF", isOwn: true),
                CrashReport.Frame(image: "Shop", function: "main", isOwn: true),
                CrashReport.Frame(image: "Shop", function: "$s4; rm -rf", isOwn: true),
            ])
        let tool = Symbolicator { program, _, input in
            guard program == "swift-demangle" else { return nil }
            #expect(input == "$s4Shop4CartV5totalSiyF\n")
            return "Cart.total()\n"
        }
        #expect(await tool.demangled(report).frames.map(\.function) == ["Cart.total()", "main", "$s4; rm -rf"])
        let none = Symbolicator { _, _, _ in nil }
        #expect(await none.demangled(report) == report)
    }
}
