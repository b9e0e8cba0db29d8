import Foundation
import Signing

/// The packages that a commit is built of, as SwiftPM and Xcode have noted them in the repository.
struct ReleaseParts {
    let sources: any ReleaseSources
    let basis: ReleaseBasis

    private static let file = "Package.resolved"
    private static let manifest = "Package.swift"
    private static let project = "project.pbxproj"

    /// - Throws: ``DeliveryProblem`` with `.invalid` if packages are declared, and none are noted.
    func packages() async throws -> ResolvedPackages {
        if let own = try await sources.file(Self.file, basis) { return try ResolvedPackages(own) }
        let manifest = try await sources.file(Self.manifest, basis)
        let paths = try await sources.paths(named: [Self.file, Self.project], basis)
        // Projects farther down are examples, if there are some farther up or a package at the top.
        let places = paths.compactMap { path in Self.depth(ofProjectOf: path).map { (path, $0) } }
        let top = manifest == nil ? places.map(\.1).min() ?? 0 : 0
        let near = places.filter { $0.1 == top }.map(\.0)
        var packages: [ResolvedPackages.Package] = []
        let lists = near.filter { $0.hasSuffix("/" + Self.file) }
        for path in lists {
            if let list = try await sources.file(path, basis) { packages += try ResolvedPackages(list).packages }
        }
        guard lists.isEmpty else { return ResolvedPackages(packages) }
        var texts = [manifest].compactMap { $0 }
        for path in near { if let text = try await sources.file(path, basis) { texts.append(text) } }
        guard !texts.contains(where: { Self.declaresPackages(String(decoding: $0, as: UTF8.self)) }) else {
            throw DeliveryProblem(
                .invalid,
                "a bill of materials is made of \(Self.file), which commit \(basis.commit.prefix(10)) does not have: "
                    + "commit it, or remove .billOfMaterials(…)")
        }
        return ResolvedPackages([])
    }

    /// How many folders are around the project or workspace that a path is in; nil if it is no file that Xcode looks at.
    static func depth(ofProjectOf path: String) -> Int? {
        let parts = path.split(separator: "/").map(String.init)
        guard let depth = parts.firstIndex(where: { $0.hasSuffix(".xcodeproj") || $0.hasSuffix(".xcworkspace") })
        else { return nil }
        let (isProject, rest) = (parts[depth].hasSuffix(".xcodeproj"), Array(parts[(depth + 1)...]))
        let list = ["xcshareddata", "swiftpm", file]
        let known = isProject ? [[project], ["project.xcworkspace"] + list] : [list]
        return known.contains(rest) ? depth : nil
    }

    /// Whether a manifest or project names packages that are fetched. Those of local folders are not noted.
    static func declaresPackages(_ text: String) -> Bool {
        if text.contains("isa = XCRemoteSwiftPackageReference") { return true }
        let code = text.split(whereSeparator: \.isNewline)
            .filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }.joined(separator: "\n")
        return code.contains(/\.package\(\s*(name:\s*"[^"]*"\s*,\s*)?(url|id):/)
    }
}
