package import Results

/// The steps of a run as a graph: each is right of the steps that it needs. It is made on the server, as SVG.
package struct StepGraphPicture {
    package struct Node {
        var name: String
        var needs: [String]
        var status: StepStatus
        /// How long it took, or what it waits for.
        var note: String
        /// What it leads to; nil for nothing.
        var link: HTML?

        package init(name: String, needs: [String], status: StepStatus, note: String, link: HTML?) {
            (self.name, self.needs, self.status, self.note, self.link) = (name, needs, status, note, link)
        }
    }

    /// How a step ended: a symbol, which has a colour, and a word.
    package static func sign(_ status: StepStatus) -> HTML {
        "<span class=\"v s-\(HTML(trusted: status.rawValue))\"><span aria-hidden=\"true\">\(Wording.symbol(status))"
            + "</span> \(Wording.title(status))</span>"
    }

    /// The most steps and lines of a picture; the table has the others.
    private static let mostNodes = 80
    private static let mostLines = 400
    private static let (width, height, gapX, gapY) = (172, 40, 44, 12)
    /// Characters of a name that have room.
    private static let nameLimit = 21

    private let nodes: [Node]
    /// For each step those that it needs, without those that it needs by others.
    private let parents: [[Int]]
    /// The column of each step, and its row.
    private let places: [(x: Int, y: Int)]

    package init(_ nodes: [Node]) {
        self.nodes = nodes
        guard nodes.count <= Self.mostNodes else {
            (parents, places) = ([], [])
            return
        }
        let numbers = Dictionary(nodes.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let needs = nodes.enumerated().map { place, node in
            Set(node.needs.compactMap { numbers[$0] }).subtracting([place]).sorted()
        }
        let columns = Self.columns(needs)
        parents = Self.reduced(needs, columns)
        places = Self.rows(columns, parents)
    }

    /// The length of the longest way to each step. A report of a stranger may have a cycle: its steps stay in column 0.
    private static func columns(_ needs: [[Int]]) -> [Int] {
        var columns = [Int](repeating: 0, count: needs.count)
        var open = needs.map(\.count)
        var users = [[Int]](repeating: [], count: needs.count)
        for (step, parents) in needs.enumerated() { for parent in parents { users[parent].append(step) } }
        var ready = open.indices.filter { open[$0] == 0 }
        while let step = ready.popLast() {
            for user in users[step] {
                columns[user] = max(columns[user], columns[step] + 1)
                open[user] -= 1
                if open[user] == 0 { ready.append(user) }
            }
        }
        return columns.indices.map { open[$0] > 0 ? 0 : columns[$0] }
    }

    /// Leaves out what follows from other needs.
    private static func reduced(_ needs: [[Int]], _ columns: [Int]) -> [[Int]] {
        var above = [Set<Int>](repeating: [], count: needs.count)
        for step in needs.indices.sorted(by: { columns[$0] < columns[$1] }) {
            for parent in needs[step] where columns[parent] < columns[step] {
                above[step].formUnion(above[parent])
                above[step].insert(parent)
            }
        }
        return needs.enumerated().map { step, parents in
            parents.filter { parent in
                columns[parent] < columns[step]
                    && !parents.contains { $0 != parent && columns[$0] < columns[step] && above[$0].contains(parent) }
            }
        }
    }

    /// Steps of a column are ordered by the rows of those that they need, so that few lines cross.
    private static func rows(_ columns: [Int], _ parents: [[Int]]) -> [(x: Int, y: Int)] {
        var rows = [Int](repeating: 0, count: columns.count)
        for column in 0...(columns.max() ?? 0) {
            let steps = columns.indices.filter { columns[$0] == column }
            let wanted = steps.map { step in
                let own = parents[step].map { rows[$0] }
                return (step: step, row: own.isEmpty ? Double(step) : Double(own.reduce(0, +)) / Double(own.count))
            }
            for (row, one) in wanted.sorted(by: { ($0.row, $0.step) < ($1.row, $1.step) }).enumerated() {
                rows[one.step] = row
            }
        }
        return columns.indices.map { (columns[$0], rows[$0]) }
    }

    /// The picture, in a box that scrolls, and a table with the same.
    package var html: HTML {
        guard !nodes.isEmpty else { return "" }
        var html: HTML = ""
        if nodes.count <= Self.mostNodes {
            html += "<div class=\"scroll graph\" role=\"region\" tabindex=\"0\" aria-label=\"Graph of the steps\">"
            html += svg + "</div>\n"
        } else {
            html += "<p class=\"quiet\">\(Figures.count(nodes.count, "step")) are too many for a picture.</p>\n"
        }
        return html + table
    }

    private var svg: HTML {
        let columns = (places.map(\.x).max() ?? 0) + 1
        let rows = (places.map(\.y).max() ?? 0) + 1
        let width = columns * (Self.width + Self.gapX) - Self.gapX + 4
        let height = rows * (Self.height + Self.gapY) - Self.gapY + 4
        var html: HTML = """
            <svg class="steps-graph" role="group" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
            aria-labelledby="graph-title graph-desc"><title id="graph-title">Graph of \(Figures.count(nodes.count, "step"))\
            </title><desc id="graph-desc">Each step is right of those that it needs. The table below has the same.</desc>

            """
        var lines = 0
        for (step, parents) in parents.enumerated() {
            for parent in parents where lines < Self.mostLines {
                lines += 1
                html += line(from: places[parent], to: places[step])
            }
        }
        for (step, node) in nodes.enumerated() { html += box(node, places[step]) }
        return html + "</svg>\n"
    }

    private static func corner(_ place: (x: Int, y: Int)) -> (x: Int, y: Int) {
        (place.x * (width + gapX) + 2, place.y * (height + gapY) + 2)
    }

    private func line(from: (x: Int, y: Int), to: (x: Int, y: Int)) -> HTML {
        let (start, end) = (Self.corner(from), Self.corner(to))
        let (x1, y1, x2, y2) = (start.x + Self.width, start.y + Self.height / 2, end.x, end.y + Self.height / 2)
        let bend = Self.gapX / 2
        return """
            <path class="e" d="M\(x1) \(y1)C\(x1 + bend) \(y1) \(x2 - bend) \(y2) \(x2) \(y2)"/>

            """
    }

    private func box(_ node: Node, _ place: (x: Int, y: Int)) -> HTML {
        let corner = Self.corner(place)
        let name =
            node.name.count > Self.nameLimit ? String(node.name.prefix(Self.nameLimit - 1)) + "…" : node.name
        let note = node.note.count > 26 ? String(node.note.prefix(25)) + "…" : node.note
        var html: HTML = "<g class=\"g g-\(HTML(trusted: node.status.rawValue))\"><title>\(node.name): "
        html += "\(Wording.title(node.status))\(node.note.isEmpty ? "" : ", \(node.note)")</title>"
        html += "<rect x=\"\(corner.x)\" y=\"\(corner.y)\" width=\"\(Self.width)\" height=\"\(Self.height)\" rx=\"6\"/>"
        html += "<text x=\"\(corner.x + 10)\" y=\"\(corner.y + 17)\"><tspan class=\"i\">\(Wording.symbol(node.status))"
        html += "</tspan> \(name)</text>"
        html += "<text class=\"q\" x=\"\(corner.x + 10)\" y=\"\(corner.y + 32)\">\(note)</text></g>"
        guard let link = node.link else { return html + "\n" }
        return "<a href=\"\(link)\">\(html)</a>\n"
    }

    private var table: HTML {
        var html: HTML = """
            <details class="plain"><summary>The steps as a table</summary>
            <div class="scroll" role="region" tabindex="0" aria-label="Steps"><table><thead><tr><th scope="col">Step</th>\
            <th scope="col">State</th><th scope="col">Note</th><th scope="col">Needs</th></tr></thead><tbody>

            """
        for node in nodes.prefix(200) {
            html += "<tr><td>"
            html += node.link.map { "<a href=\"\($0)\">\(node.name)</a>" } ?? "\(node.name)"
            html += "</td><td>\(Self.sign(node.status))</td><td>\(node.note)</td>"
            html += "<td>\(node.needs.prefix(50).joined(separator: ", "))</td></tr>\n"
        }
        html += "</tbody></table></div></details>\n"
        return html
    }
}
