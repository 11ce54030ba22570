"""Reads windrow's exports with the tools that others use. Prints what it found; any surprise ends it with an error.

usage: check.py warc|cdxj|pywb|parquet|wacz ARGUMENTS
"""

import base64
import glob
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys


def tool(name):
    return os.path.join(os.path.dirname(sys.executable), name)


def need(condition, message):
    if not condition:
        sys.exit(f"check.py: {message}")


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def warc(*paths):
    """warcio iterates every record and finds the digests right; `warcio check` agrees."""
    from warcio.archiveiterator import ArchiveIterator

    counts, responses = {}, {}
    for path in paths:
        with open(path, "rb") as file:
            for number, record in enumerate(ArchiveIterator(file, check_digests="raise")):
                kind = record.rec_type
                need(number > 0 or kind == "warcinfo", f"{path} starts with {kind}")
                counts[kind] = counts.get(kind, 0) + 1
                headers = record.rec_headers
                body = record.content_stream().read()
                if kind == "response":
                    need(headers["WARC-Payload-Digest"] == sha1(body), "a payload digest is wrong")
                    counts["robots"] = counts.get("robots", 0) + headers["WARC-Target-URI"].endswith("/robots.txt")
                    responses[headers["WARC-Record-ID"]] = headers["WARC-Payload-Digest"]
                if kind == "revisit":
                    need(headers["WARC-Refers-To"] in responses, "a revisit refers to nothing")
                    need(responses[headers["WARC-Refers-To"]] == headers["WARC-Payload-Digest"], "a revisit has another digest")
                if kind == "metadata":
                    fields = dict(line.split(": ", 1) for line in body.decode().splitlines())
                    need(0 <= float(fields["relevance"]) <= 1, f"relevance {fields}")
                    need("modelVersion" in fields and "hopsFromSeed" in fields, f"metadata {fields}")
                    counts["linkPath"] = counts.get("linkPath", 0) + ("linkPath" in fields)
    checked = subprocess.run([tool("warcio"), "check", "-v", *paths], capture_output=True, text=True)
    need(checked.returncode == 0, f"warcio check: {checked.stdout}{checked.stderr}")
    need("digest pass" in checked.stdout, f"warcio check compared no digest: {checked.stdout[:500]}")
    print(json.dumps(counts))


def lines_of(text):
    for line in text.splitlines():
        key, time, fields = line.split(" ", 2)
        fields = json.loads(fields)
        # A response that names no type: pywb says "unk", cdxj-indexer nothing.
        fields.setdefault("mime", "unk")
        yield key, time, {name: str(fields[name]) for name in ("url", "mime", "status", "digest", "offset", "length", "filename")}


def cdxj(index, *paths):
    """cdxj-indexer makes the same index of the same files."""
    made = subprocess.run([tool("cdxj-indexer"), "--sort", *paths], capture_output=True, text=True, check=True).stdout
    with open(index, encoding="utf-8") as file:
        ours = sorted(lines_of(file.read()), key=str)
    theirs = sorted(lines_of(made), key=str)
    for entry in ours + theirs:
        entry[2]["digest"] = entry[2]["digest"].removeprefix("sha1:")
    need(len(ours) == len(theirs), f"{len(ours)} lines, cdxj-indexer makes {len(theirs)}")
    for a, b in zip(ours, theirs):
        need(a == b, f"windrow {a}\ncdxj-indexer {b}")
    print(len(ours))


def pywb(folder, url, words):
    """pywb serves a page from our WARC and our index."""
    import yaml
    from pywb.apps.frontendapp import FrontEndApp
    from werkzeug.test import Client

    config = os.path.join(folder, "config.yaml")
    index = os.path.join(folder, "index.cdxj")
    with open(config, "w") as file:
        yaml.safe_dump({"collections": {"crawl": {"index_paths": index, "archive_paths": os.path.join(folder, "")}}}, file)
    os.chdir(folder)
    app = FrontEndApp(config_file=config)
    answer = Client(app).get(f"/crawl/mp_/{url}", follow_redirects=True)
    need(answer.status_code == 200, f"pywb answers {answer.status_code}: {answer.get_data(as_text=True)[:600]}")
    need(words in answer.get_data(as_text=True), f"pywb serves another page than {url}")
    print(answer.status_code)


def parquet(path, types, rows):
    """pyarrow, pandas and duckdb see the documented types and the same rows."""
    import duckdb
    import pandas
    import pyarrow
    import pyarrow.parquet

    types, rows = json.loads(types), int(rows)
    names = {
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "flag": pyarrow.bool_(),
        "text": pyarrow.string(),
        "time": pyarrow.timestamp("ms", tz="UTC"),
    }
    table = pyarrow.parquet.read_table(path)
    need(table.num_rows == rows, f"{table.num_rows} rows, not {rows}")
    found = {field.name: field.type for field in table.schema}
    need(found == {name: names[kind] for name, kind in types}, f"types {found}")
    metadata = pyarrow.parquet.read_metadata(path)
    need(metadata.metadata[b"windrow.schema_version"] == b"1", "no schema version")
    need(metadata.row_group(0).column(0).compression == "SNAPPY", "not packed")
    frame = pandas.read_parquet(path)
    need(len(frame) == rows, "pandas counts otherwise")
    in_duckdb = {"integer": "BIGINT", "number": "DOUBLE", "flag": "BOOLEAN", "text": "VARCHAR", "time": "TIMESTAMP WITH TIME ZONE"}
    described = duckdb.sql(f"describe select * from '{path}'").fetchall()
    need({row[0]: row[1] for row in described} == {name: in_duckdb[kind] for name, kind in types}, f"duckdb: {described}")
    need(duckdb.sql(f"select count(*) from '{path}'").fetchall()[0][0] == rows, "duckdb counts otherwise")
    for field in table.schema:
        if field.type == pyarrow.float64():
            total = duckdb.sql(f'select sum("{field.name}") from \'{path}\'').fetchall()[0][0] or 0
            need(abs(total - frame[field.name].sum()) < 1e-6 * max(1, abs(total)), f"sums of {field.name} differ")
    print(table.num_rows)


def wacz(path):
    """py-wacz accepts the package; its index finds every capture in it."""
    import zipfile

    from warcio.archiveiterator import ArchiveIterator

    checked = subprocess.run([tool("wacz"), "validate", "-f", path], capture_output=True, text=True)
    said = checked.stdout + checked.stderr
    need(checked.returncode == 0 and "Validation succeeded" in said, f"wacz validate: {said}")
    with zipfile.ZipFile(path) as package:
        need(all(entry.compress_type == 0 for entry in package.infolist()), "something is packed")
        index = gzip.decompress(package.read("indexes/index.cdx.gz")).decode()
        need(index.splitlines() == sorted(index.splitlines()), "the index is not sorted")
        files = {}
        for _, _, entry in lines_of(index):
            name = "archive/" + entry["filename"]
            data = files.setdefault(name, package.read(name))
            offset, length = int(entry["offset"]), int(entry["length"])
            record = next(iter(ArchiveIterator(io.BytesIO(data[offset : offset + length]))))
            need(record.rec_headers["WARC-Target-URI"] == entry["url"], f"another page at {entry}")
        blocks = package.read("indexes/index.idx").decode().splitlines()[1:]
        packed = package.read("indexes/index.cdx.gz")
        for block in blocks:
            place = json.loads(block.split(" ", 2)[2])
            part = packed[place["offset"] : place["offset"] + place["length"]]
            need(gzip.decompress(part).decode().startswith(block.split(" {")[0]), f"another block at {place}")
            need("sha256:" + hashlib.sha256(part).hexdigest() == place["digest"], "a block's digest is wrong")
        pages = package.read("pages/pages.jsonl").decode().splitlines()
        need(json.loads(pages[0])["format"] == "json-pages-1.0", "no page list")
    print(len(pages) - 1)


if __name__ == "__main__":
    {"warc": warc, "cdxj": cdxj, "pywb": pywb, "parquet": parquet, "wacz": wacz}[sys.argv[1]](*sys.argv[2:])
