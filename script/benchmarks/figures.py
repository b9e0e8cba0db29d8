"""Values with units, their goals, and the rows that show both."""

import statistics


class Unit:
    """How a value is shown, and whether a larger one is better."""

    def __init__(self, name, show, more_is_better=False):
        self.name, self.show, self.more_is_better = name, show, more_is_better

    def at_most(self, value):
        return Goal(self, value, "≤")

    def at_least(self, value):
        return Goal(self, value, "≥")


def _seconds(value):
    if abs(value) < 0.001:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.1f} ms" if abs(value) < 1 else f"{value:.2f} s"


SECONDS = Unit("s", _seconds)
MEGABYTES_PER_SECOND = Unit("MB/s", lambda value: f"{value:,.0f} MB/s", more_is_better=True)
PER_SECOND = Unit("1/s", lambda value: f"{value:,.1f}/s", more_is_better=True)
MEBIBYTES = Unit("MiB", lambda value: f"{value:.1f} MiB")
MEGABYTES = Unit("MB", lambda value: f"{value:.1f} MB")
COUNT = Unit("", lambda value: f"{value:,.0f}")
PERCENT_OF_A_CORE = Unit("% of a core", lambda value: f"{value:.3f} %")


class _Milliseconds:
    """Goals are written in milliseconds; times are kept in seconds."""

    def at_most(self, value):
        return SECONDS.at_most(value / 1_000)


MILLISECONDS = _Milliseconds()


class Goal:
    def __init__(self, unit, value, sign):
        self.unit, self.value, self.sign = unit, value, sign

    def is_met(self, value):
        return value <= self.value if self.sign == "≤" else value >= self.value

    def __str__(self):
        return f"{self.sign} {self.unit.show(self.value)}"


class Figure:
    """One row: what was measured, every value, and the goal or the other tool's value."""

    def __init__(self, part, name, values, unit, beside=None, of="", goal=None, note=""):
        self.part, self.name, self.values, self.unit = part, name, values, unit
        self.of, self.goal, self.note = of, goal, note
        self.ratio = statistics.median(values) / statistics.median(beside) if values and beside else None

    @property
    def median(self):
        return statistics.median(self.values)

    def cells(self):
        if not self.values:
            return (self.name, self.note, "", "", "", "")
        verdict = ""
        if self.goal:
            verdict = f"{self.goal}: {'met' if self.goal.is_met(self.median) else 'missed'}"
        spread = f"{self.unit.show(min(self.values))} – {self.unit.show(max(self.values))}"
        ratio = f"{self.ratio:.2f} ×" if self.ratio is not None else ""
        return (self.name, self.unit.show(self.median), spread, verdict, self.of if ratio else "", ratio)

    def json(self):
        return {
            "part": self.part, "name": self.name, "unit": self.unit.name, "values": self.values,
            "median": self.median if self.values else None, "least": min(self.values, default=None),
            "most": max(self.values, default=None), "beside": self.of or None, "ratio": self.ratio,
            "goal": str(self.goal) if self.goal else None,
            "isMet": self.goal.is_met(self.median) if self.goal and self.values else None,
            "note": self.note or None,
        }


TITLES = ("what", "median", "least – most", "goal", "beside", "ratio")


def table(figures):
    """The rows as aligned columns, a heading for each part."""
    rows = [figure.cells() for figure in figures]
    # The reason for a missing figure may be longer than any figure, so it is in the last column.
    wide = [row for row in [TITLES, *rows] if any(row[2:]) or row is TITLES]
    widths = [max(len(row[column]) for row in (wide if column else [TITLES, *rows])) for column in range(len(TITLES))]

    def line(row):
        return "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()

    lines, part = [line(TITLES)], None
    for figure, row in zip(figures, rows):
        if figure.part != part:
            part = figure.part
            lines += ["", part]
        lines.append(line(row))
    return "\n".join(lines)


def markdown(figures):
    """The same for docs/performance.md."""
    lines = ["| part | " + " | ".join(TITLES) + " |", "|" + " --- |" * (len(TITLES) + 1)]
    part = None
    for figure in figures:
        shown = figure.part if figure.part != part else ""
        part = figure.part
        cells = [cell.replace("|", "\\|") for cell in (shown, *figure.cells())]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
