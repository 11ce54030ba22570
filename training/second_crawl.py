#!/usr/bin/env python3
"""Does labelling pay? topic, crawl, label 30 pages, retrain, crawl again, on recorded webs whose labels answer for a user.

    python3 training/second_crawl.py TASKS.json [--windrow target/release/windrow] [--labels 30] [--only ID,ID] [--out DIR]

For every task: `windrow topic new`, `crawl --replay` for as many pages as there are targets (100 to 1,000), `label --list N
--json` (the pages windrow asks for), answers from the task's label file by `label --import`, `retrain`, and the crawl again
with the model. The harvest of both crawls is counted by the label file, seeds apart. Calibration error (ECE) and AUC are those of
each crawl's judgements of its own pages, without the N that were labelled; the crawls see nothing of the label file but
the N answers. Prints a table in Markdown.
"""

import argparse
import csv
import json
import subprocess
import tempfile
from pathlib import Path


def run(windrow, *arguments, ok=(0,)):
    done = subprocess.run([windrow, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in ok:
        raise SystemExit(f"windrow {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
    return done.stdout


def key(url):
    """A URL without what does not tell pages apart, as in windrow's fingerprints."""
    rest = url.split("://", 1)[-1].split("#")[0]
    head, _, last = rest.rpartition("/")
    if last.lower() in ("index.html", "index.htm", "default.html", "default.htm", "index.php"):
        rest = head
    return rest.rstrip("/").lower().replace("%28", "(").replace("%29", ")")


def pages(folder):
    with open(folder / "report" / "pages.csv", encoding="utf-8-sig", newline="") as file:
        return [row for row in csv.DictReader(file) if row["outcome"] == "fetched"]


def calibration_error(judged, bins=15):
    """Expected calibration error over bins of equal size."""
    judged = sorted(judged)
    bins = min(bins, len(judged)) or 1
    error = 0.0
    for n in range(bins):
        part = judged[n * len(judged) // bins : (n + 1) * len(judged) // bins]
        error += abs(sum(p for p, _ in part) - sum(truth for _, truth in part))
    return error / max(len(judged), 1)


def auc(judged):
    ranked = sorted(judged)
    positives = sum(truth for _, truth in ranked)
    negatives = len(ranked) - positives
    if not positives or not negatives:
        return float("nan")
    ranks, at = 0.0, 0
    while at < len(ranked):
        end = at
        while end < len(ranked) and ranked[end][0] == ranked[at][0]:
            end += 1
        ranks += (at + end + 1) / 2 * sum(truth for _, truth in ranked[at:end])
        at = end
    return (ranks - positives * (positives + 1) / 2) / (positives * negatives)


def measure(windrow, task, folder, work, number, force):
    web = folder / f"{task['corpus']}.warc.gz"
    lines = (folder / f"{task['corpus']}.labels.tsv").read_text().splitlines()
    targets = {key(line.split("\t")[0]) for line in lines if line.split("\t")[1:] == [task["label"]]}
    budget = max(100, min(1000, len(targets)))
    topic, first, second, model = work / "topic.toml", work / "first", work / "second", work / "models" / task["id"]
    run(windrow, "topic", "new", task["id"], "-k", ",".join(task["keywords"]), "-s", *task["seeds"], "-o", topic, "--max-pages", budget)
    crawl = ["crawl", topic, "--replay", web, "--quiet"]
    run(windrow, *crawl, "--out", first)
    asked = json.loads(run(windrow, "label", first, "--list", number, "--json"))
    answers = work / "answers.tsv"
    answers.write_text("".join(f"{page['url']}\t{'yes' if key(page['url']) in targets else 'no'}\n" for page in asked))
    run(windrow, "label", first, "--import", answers)
    retrained = json.loads(run(windrow, "retrain", first, "--into", model, "--json", *(["--force"] if force else []), ok=(0, 1)))
    run(windrow, *crawl, "--out", second, *(["--model", model] if retrained["kept"] else []))
    seeds = {key(seed) for seed in task["seeds"]}
    labelled = {key(page["url"]) for page in asked}
    row = {"task": task["id"], "budget": budget, "kept": retrained["kept"], "yes": sum(key(p["url"]) in targets for p in asked)}
    for name, crawled in (("first", first), ("second", second)):
        fetched = [page for page in pages(crawled) if key(page["url"]) not in seeds]
        truth = [(float(page["relevance"]), int(key(page["url"]) in targets)) for page in fetched]
        unseen = [one for page, one in zip(fetched, truth) if key(page["url"]) not in labelled]
        row[name] = sum(hit for _, hit in truth) / (budget - len(seeds))
        row[f"{name}_judged"] = unseen
        row[f"{name}_ece"] = calibration_error(unseen)
        row[f"{name}_auc"] = auc(unseen)
    row["difference"] = retrained["difference"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("--windrow", default="target/release/windrow")
    parser.add_argument("--labels", type=int, default=30)
    parser.add_argument("--only", default="")
    parser.add_argument("--force", action="store_true", help="crawl with every retrained model, whatever the guard says")
    parser.add_argument("--out", type=Path, help="keep the crawls here")
    arguments = parser.parse_args()
    only = set(filter(None, arguments.only.split(",")))
    rows = []
    print("| task | pages | labels (yes) | model | first | second | AUC | AUC 2 | ECE | ECE 2 |\n|---|---|---|---|---|---|---|---|---|---|")
    for task in json.loads(arguments.tasks.read_text()):
        if only and task["id"] not in only:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            work = (arguments.out / task["id"]) if arguments.out else Path(temporary)
            work.mkdir(parents=True, exist_ok=True)
            row = measure(arguments.windrow, task, arguments.tasks.parent, work, arguments.labels, arguments.force)
        rows.append(row)
        model = "kept" if row["kept"] else "refused"
        print(
            f"| {row['task']} | {row['budget']} | {arguments.labels} ({row['yes']}) | {model} | {row['first']:.3f} | {row['second']:.3f} "
            f"| {row['first_auc']:.3f} | {row['second_auc']:.3f} | {row['first_ece']:.3f} | {row['second_ece']:.3f} |",
            flush=True,
        )
    mean = lambda name: sum(row[name] for row in rows) / len(rows)
    pooled = [calibration_error([one for row in rows for one in row[f"{name}_judged"]]) for name in ("first", "second")]
    print(
        f"| **mean** | | | | **{mean('first'):.3f}** | **{mean('second'):.3f}** | {mean('first_auc'):.3f} | {mean('second_auc'):.3f} "
        f"| {mean('first_ece'):.3f} | {mean('second_ece'):.3f} |\n| all pages together | | | | | | | | {pooled[0]:.3f} | {pooled[1]:.3f} |"
    )


if __name__ == "__main__":
    main()
