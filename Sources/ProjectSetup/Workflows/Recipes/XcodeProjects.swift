/// The projects that a workspace or a project is made of.
enum XcodeProjects {
    /// - Parameter container: The name of an `.xcodeproj` or `.xcworkspace` in `folder`.
    /// - Returns: The paths of `.xcodeproj` folders in `folder`: those that the workspace names, then those beside it.
    static func paths(of container: String, in folder: SeedFolder) -> [String] {
        let beside = folder.names.filter { $0.hasSuffix(".xcodeproj") }.sorted()
        guard container.hasSuffix(".xcworkspace"), let text = folder.text("\(container)/contents.xcworkspacedata")
        else { return beside }
        let named = named(in: text)
        return named + beside.filter { !named.contains($0) }
    }

    /// The projects that a `contents.xcworkspacedata` names, without those that package managers make.
    static func named(in text: String) -> [String] {
        var (found, groups): ([String], [String]) = ([], [])
        for match in text.matches(of: #/<(/?)(Group|FileRef)\b([^>]*)>/#) {
            guard match.1.isEmpty else {
                if match.2 == "Group" { _ = groups.popLast() }
                continue
            }
            let place = match.3.firstMatch(of: /location\s*=\s*"([a-z]+):([^"]*)"/)
            // A container's location begins at the workspace, a group's at the group around it.
            let isOfGroup = place.map { $0.1 == "group" } ?? true
            let parts = ((isOfGroup ? groups.last ?? "" : "") + "/" + String(place?.2 ?? "")).split(separator: "/")
            let path = parts.joined(separator: "/")
            if match.2 == "Group" {
                if !match.3.hasSuffix("/") { groups.append(path) }
            } else if path.hasSuffix(".xcodeproj"), !parts.contains(".."), place?.2.hasPrefix("/") == false,
                !parts.contains(where: { ["pods", "carthage"].contains($0.lowercased()) }), !found.contains(path)
            {
                found.append(path)
            }
        }
        return found
    }
}
