// Reads archives by warcio, an independent reader, and compares each record,
// digest and line of the index with what nephila says of them.
// Usage: node check.mjs NEPHILA FILE...; exits 1 on any difference.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { CDXIndexer, Indexer, WARCParser } from "warcio";

const [nephila, ...files] = process.argv.slice(2);
let differences = 0;
let records = 0;
let digests = 0;
let lines = 0;

function expect(place, what, ours, theirs) {
  if (String(ours ?? "") === String(theirs ?? "")) return;
  console.error(`${place}: ${what}: nephila ${ours}, warcio ${theirs}`);
  differences++;
}

function run(...args) {
  return execFileSync(nephila, args, { maxBuffer: 1 << 30 }).toString();
}

function jsonLines(text) {
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
function base32(bytes) {
  let out = "";
  for (let bit = 0; bit < bytes.length * 8; bit += 5) {
    const pair = (bytes[bit >> 3] << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    out += alphabet[(pair >> (11 - (bit & 7))) & 31];
  }
  return out;
}
// Other tools write hex and base64 too.
const ourForm = /^sha1:[A-Z2-7]{32}$/;
const sha1 = (bytes) =>
  "sha1:" + base32(createHash("sha1").update(bytes).digest());

// The body behind the head, its chunks joined.
function payload(block) {
  const end = block.indexOf("\r\n\r\n");
  if (end < 0) return Buffer.alloc(0);
  const head = block.subarray(0, end).toString("latin1");
  let body = block.subarray(end + 4);
  if (!/^transfer-encoding:\s*chunked\s*$/im.test(head)) return body;
  const chunks = [];
  for (;;) {
    const line = body.indexOf("\r\n");
    const size = parseInt(body.subarray(0, line).toString("latin1"), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    chunks.push(body.subarray(line + 2, line + 2 + size));
    body = body.subarray(line + 2 + size + 2);
  }
}

async function compareRecords(file) {
  const ours = jsonLines(run("warc", "ls", "--json", file));
  const parser = new WARCParser(createReadStream(file), {
    keepHeadersCase: true,
    parseHttp: false,
  });
  let i = 0;
  for await (const record of parser) {
    const place = `${file}, record ${i}`;
    const our = ours[i++] ?? {};
    const block = Buffer.from(await record.readFully(false));
    const field = (name) => record.warcHeader(name);
    const bare = (id) => (id ?? "").replace(/^<(.*)>$/, "$1");
    expect(place, "type", our.type, record.warcType);
    expect(place, "uri", our.uri, bare(record.warcTargetURI));
    expect(place, "date", our.date, record.warcDate);
    expect(place, "id", our.id, bare(field("WARC-Record-ID")));
    expect(place, "block length", our.block_length, block.length);
    if (ourForm.test(our.block_digest)) {
      expect(place, "block digest", our.block_digest, sha1(block));
      digests++;
    }
    const http = (field("Content-Type") ?? "").startsWith("application/http");
    if (ourForm.test(our.payload_digest) && our.type !== "revisit") {
      const bytes = http ? payload(block) : block;
      expect(place, "payload digest", our.payload_digest, sha1(bytes));
      digests++;
    }
    records++;
  }
  expect(file, "records", ours.length, i);

  i = 0;
  const places = new Indexer({ fields: ["offset", "length", "warc-type"] });
  const input = [{ reader: createReadStream(file), filename: basename(file) }];
  for await (const entry of places.iterIndex(input)) {
    const our = ours[i] ?? {};
    expect(`${file}, record ${i}`, "offset", our.offset, entry.offset);
    expect(`${file}, record ${i}`, "length", our.length, entry.length);
    i++;
  }
}

async function compareIndex(file) {
  const ours = new Map();
  for (const line of run("warc", "index", file).split("\n").filter(Boolean)) {
    const [key, timestamp] = line.split(" ", 2);
    const json = JSON.parse(line.slice(key.length + timestamp.length + 2));
    ours.set(Number(json.offset), { key, timestamp, ...json });
  }
  const indexer = new CDXIndexer({ format: "cdxj", noSurt: false });
  const input = [{ reader: createReadStream(file), filename: basename(file) }];
  let seen = 0;
  for await (const entry of indexer.iterIndex(input)) {
    const our = ours.get(entry.offset);
    const place = `${file}, index, offset ${entry.offset}`;
    if (our === undefined) {
      // Records that no one asks an index of ours for.
      if (["metadata", "warcinfo"].includes(entry.type)) continue;
      if (/^(metadata|urn):/.test(entry.url)) continue;
      expect(place, "line", "none", JSON.stringify(entry));
      continue;
    }
    seen++;
    lines++;
    const plain = (digest) => (digest ?? "").replace(/^sha1:/, "");
    expect(place, "url", our.url, entry.url);
    expect(place, "timestamp", our.timestamp, entry.timestamp);
    expect(place, "length", our.length, entry.length);
    expect(place, "status", our.status, entry.status);
    expect(place, "mime", our.mime, entry.mime);
    expect(place, "digest", plain(our.digest), plain(entry.digest));
    expect(place, "filename", our.filename, entry.filename);
    // warcio keeps a slash at the end of a path, which the canonicaliser of
    // other indexes takes away (testdata/url-canon/urlcanon/surt.json).
    const key = entry.urlkey.replace(/([^)])\/(?=\?|$)/, "$1");
    expect(place, "key", our.key, key);
  }
  expect(file, "lines of the index", ours.size, seen);
}

for (const file of files) {
  await compareRecords(file);
  await compareIndex(file);
}
console.log(
  `${files.length} archives, ${records} records, ${digests} digests, ` +
    `${lines} index lines, ${differences} differences`,
);
process.exit(differences > 0 || records === 0 ? 1 : 0);
