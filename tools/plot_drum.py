#!/usr/bin/env python3
"""Draws what a link costs against the size of the store, from results of
`nephila bench drum --json` (one JSON object a line; other lines are skipped).

    tools/plot_drum.py RESULTS.jsonl > docs/drum-cost.svg

Left: microseconds a link. Right: alpha, bytes moved for each byte of text. Both
axes are logarithmic. Only results with the memory of --memory (512 MiB) count.
"""

import argparse
import json
import math
import sys

COLOURS = {"drum": "#c1272d", "mercator": "#0000a7", "polybot": "#008176",
           "rocksdb": "#eecc16", "lmdb": "#666666"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 330, 260, 60, 40, 90


def read_results(lines, memory):
    """{store: [(keys, us a link, alpha)]}, ascending by keys."""
    stores = {}
    for line in lines:
        if not line.startswith("{"):
            continue
        result = json.loads(line)
        if result["memory_bytes"] != memory or not result.get("links_per_s"):
            continue
        if result["store"] not in COLOURS or result.get("shuffled"):
            continue
        point = (result["preload"], 1e6 / result["links_per_s"],
                 result["alpha_measured"])
        stores.setdefault(result["store"], {})[point[0]] = point
    return {store: sorted(points.values()) for store, points in stores.items()}


def decades(values):
    low = math.floor(math.log10(min(values)))
    return low, max(math.ceil(math.log10(max(values))), low + 1)


def panel(stores, column, title, unit, x0):
    points = [point for rows in stores.values() for point in rows]
    xs = decades([point[0] for point in points])
    ys = decades([point[column] for point in points])

    def place(x, y):
        return (x0 + (math.log10(x) - xs[0]) / (xs[1] - xs[0]) * WIDTH,
                TOP + HEIGHT
                - (math.log10(y) - ys[0]) / (ys[1] - ys[0]) * HEIGHT)

    out = [f'<text x="{x0}" y="{TOP - 14}" font-weight="bold">{title}</text>',
           f'<rect x="{x0}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" '
           'fill="none" stroke="#999"/>']
    for exponent in range(xs[0], xs[1] + 1):
        x, _ = place(10.0 ** exponent, 10.0 ** ys[0])
        name = {6: "1M", 7: "10M", 8: "100M", 9: "1B", 10: "10B"}.get(
            exponent, f"1e{exponent}")
        out.append(f'<text x="{x:.0f}" y="{TOP + HEIGHT + 18}" '
                   f'text-anchor="middle">{name}</text>')
    for exponent in range(ys[0], ys[1] + 1):
        _, y = place(10.0 ** xs[0], 10.0 ** exponent)
        out.append(f'<line x1="{x0}" y1="{y:.0f}" x2="{x0 + WIDTH}" '
                   f'y2="{y:.0f}" stroke="#ddd"/>')
        out.append(f'<text x="{x0 - 6}" y="{y + 4:.0f}" '
                   f'text-anchor="end">{10.0 ** exponent:g}</text>')
    out.append(f'<text x="{x0 + WIDTH / 2}" y="{TOP + HEIGHT + 38}" '
               f'text-anchor="middle">keys in the store; {unit}</text>')
    for store, rows in sorted(stores.items()):
        places = [place(row[0], row[column]) for row in rows]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{path}" fill="none" stroke-width="2" '
                   f'stroke="{COLOURS[store]}"/>')
        for x, y in places:
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" '
                       f'fill="{COLOURS[store]}"/>')
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=argparse.FileType("r"))
    parser.add_argument("--memory", type=int, default=512 << 20)
    arguments = parser.parse_args()
    stores = read_results(arguments.results, arguments.memory)
    if not stores:
        sys.exit("no results in " + arguments.results.name)
    width = LEFT + 2 * WIDTH + GAP + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
           f'height="{TOP + HEIGHT + 80}" font-family="sans-serif" '
           'font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>']
    out += panel(stores, 1, "Time of a link", "microseconds", LEFT)
    out += panel(stores, 2, "alpha", "bytes moved a byte of text",
                 LEFT + WIDTH + GAP)
    x = LEFT
    for store in sorted(stores):
        y = TOP + HEIGHT + 64
        out.append(f'<rect x="{x}" y="{y - 9}" width="14" height="9" '
                   f'fill="{COLOURS[store]}"/>')
        out.append(f'<text x="{x + 20}" y="{y}">{store}</text>')
        x += 110
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    main()
