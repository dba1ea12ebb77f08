#!/usr/bin/env python3
"""Draws what budgets do against link farms, from results of
`nephila bench spam --json` (one JSON object a line).

    tools/plot_spam.py RESULTS.jsonl > docs/spam.svg

Left: the share of fetches on spam as the crawl goes on. Right: pages fetched
per good domain by the class of its in-degree, both axes logarithmic.
"""

import argparse
import json
import math
import sys

COLOURS = {"breadth-first": "#0000a7", "budgets": "#c1272d"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 330, 260, 60, 40, 90


def frame(x0, title, below, x_ticks, y_ticks):
    """Ticks are (place from 0 to 1, text)."""
    out = [f'<text x="{x0}" y="{TOP - 14}" font-weight="bold">{title}</text>',
           f'<rect x="{x0}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" '
           'fill="none" stroke="#999"/>',
           f'<text x="{x0 + WIDTH / 2}" y="{TOP + HEIGHT + 38}" '
           f'text-anchor="middle">{below}</text>']
    for place, name in x_ticks:
        out.append(f'<text x="{x0 + place * WIDTH:.0f}" '
                   f'y="{TOP + HEIGHT + 18}" text-anchor="middle">{name}</text>')
    for place, name in y_ticks:
        y = TOP + HEIGHT - place * HEIGHT
        out.append(f'<line x1="{x0}" y1="{y:.0f}" x2="{x0 + WIDTH}" '
                   f'y2="{y:.0f}" stroke="#ddd"/>')
        out.append(f'<text x="{x0 - 6}" y="{y + 4:.0f}" '
                   f'text-anchor="end">{name}</text>')
    return out


def line(x0, points, result):
    """Points are (x, y), each from 0 to 1."""
    path = " ".join(f"{x0 + x * WIDTH:.1f},{TOP + HEIGHT - y * HEIGHT:.1f}"
                    for x, y in points)
    dashes = "" if result["ring"] == 1 else ' stroke-dasharray="5 4"'
    return (f'<polyline points="{path}" fill="none" stroke-width="2" '
            f'stroke="{COLOURS[result["frontier"]]}"{dashes}/>')


def course(results, x0):
    pages = results[0]["pages"]
    out = frame(x0, "Fetches on spam", "pages",
                [(i / 4, f"{pages * i // 4000}K") for i in range(5)],
                [(i / 4, f"{25 * i} %") for i in range(5)])
    for result in results:
        shares = result["course"]
        out.append(line(x0, [((i + 1) / len(shares), share)
                             for i, share in enumerate(shares)], result))
    return out


def classes(results, x0):
    rows = [row for result in results for row in result["classes"]
            if row["pages_per_domain"] > 0]
    most_x = math.ceil(math.log10(max(row["in_degree"] for row in rows)))
    pages = [math.log10(row["pages_per_domain"]) for row in rows]
    low, high = math.floor(min(pages)), math.ceil(max(pages))
    out = frame(x0, "Pages per domain", "domains that link to it",
                [(i / most_x, f"{10 ** i}") for i in range(most_x + 1)],
                [((i - low) / (high - low), f"{10.0 ** i:g}")
                 for i in range(low, high + 1)])
    for result in results:
        points = [(math.log10(row["in_degree"]) / most_x,
                   (math.log10(row["pages_per_domain"]) - low) / (high - low))
                  for row in result["classes"] if row["pages_per_domain"] > 0]
        out.append(line(x0, points, result))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=argparse.FileType("r"))
    arguments = parser.parse_args()
    results = [json.loads(text) for text in arguments.results
               if text.startswith("{")]
    if not results:
        sys.exit("no results in " + arguments.results.name)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" '
           f'width="{LEFT + 2 * WIDTH + GAP + 30}" height="{TOP + HEIGHT + 80}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>']
    out += course(results, LEFT)
    out += classes(results, LEFT + WIDTH + GAP)
    for i, result in enumerate(results):
        x, y = LEFT + i * 185, TOP + HEIGHT + 64
        dashes = "" if result["ring"] == 1 else ' stroke-dasharray="5 4"'
        out.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 22}" y2="{y - 4}" '
                   f'stroke-width="2" stroke="{COLOURS[result["frontier"]]}"'
                   f'{dashes}/>')
        farms = "farms of 1" if result["ring"] == 1 else (
            f'rings of {result["ring"]}')
        out.append(f'<text x="{x + 28}" y="{y}">{result["frontier"]}, '
                   f'{farms}</text>')
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    main()
