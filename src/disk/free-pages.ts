import { readSync } from 'node:fs';

/**
 * The layout of LMDB's table of free pages (`mdb.c`: MDB_page, MDB_node, FREE_DBI). Offsets within a page start after
 * the header.
 */
const headerBytes = 24;
const nodeBytes = 8;
const at = { flags: 18, lower: 20, nodeFlags: 4, keySize: 6 } as const;
const branchPage = 1;
const leafPage = 2;
const bigData = 1;
/** The root of an empty table. */
const noPage = 0xffff_ffff_ffff_ffffn;
/**
 * A limit above the depth of any table. In a damaged file, the pages may form a cycle, which would otherwise be read
 * forever.
 */
const depthMax = 32;

export type PageFile = {
  readonly file: number;
  readonly pageBytes: number;
};

type PageRange = {
  from: bigint;
  last: bigint;
};

/**
 * Returns whether all pages from `from` to `last` are free. Pages in missing parts of the table count as used. LMDB
 * does not write a page that the same transaction allocates and frees, so a complete file may end before its last page.
 * `root` is the root page of the table of free pages.
 */
export function areFree(pages: PageFile, root: bigint, { from, last }: PageRange): boolean {
  let free = 0n;
  for (const [first, count] of freeRuns(pages, root, depthMax)) {
    const begin = first > from ? first : from;
    const end = first + count - 1n < last ? first + count - 1n : last;
    if (end >= begin) free += end - begin + 1n;
  }
  return free === last - from + 1n;
}

type Run = readonly [first: bigint, count: bigint];

function* freeRuns(pages: PageFile, number: bigint, depth: number): Generator<Run> {
  if (number === noPage || depth === 0) return;
  const page = bytesAt(pages, number, pages.pageBytes);
  if (page.length < pages.pageBytes) return;
  const flags = page.readUInt16LE(at.flags);
  for (let node = 0; node < page.readUInt16LE(at.lower) >> 1; node += 1) {
    const offset = headerBytes + page.readUInt16LE(headerBytes + 2 * node);
    if (offset + nodeBytes > page.length) return;
    if ((flags & branchPage) !== 0) yield* freeRuns(pages, childOf(page, offset), depth - 1);
    else if ((flags & leafPage) !== 0) yield* runsIn(dataOf(pages, page, offset));
  }
}

function childOf(page: Buffer, offset: number): bigint {
  return page.readBigUInt64LE(offset) & 0xffff_ffff_ffffn;
}

function dataOf(pages: PageFile, page: Buffer, offset: number): Buffer {
  const size = page.readUInt32LE(offset);
  const start = offset + nodeBytes + page.readUInt16LE(offset + at.keySize);
  if ((page.readUInt16LE(offset + at.nodeFlags) & bigData) === 0) return page.subarray(start, start + size);
  return bytesAt(pages, page.readBigUInt64LE(start), headerBytes + size).subarray(headerBytes);
}

/**
 * Yields the runs of free pages in a value of the table. The value begins with a count of entries. An entry is a page
 * number, or the negative length of a run and then the first page of the run. The entry 0 is unused.
 */
function* runsIn(value: Buffer): Generator<Run> {
  for (let entry = 8; entry + 8 <= value.length; entry += 8) {
    const number = value.readBigInt64LE(entry);
    if (number > 0n) yield [number, 1n];
    if (number >= 0n || entry + 16 > value.length) continue;
    entry += 8;
    yield [value.readBigInt64LE(entry), -number];
  }
}

function bytesAt({ file, pageBytes }: PageFile, number: bigint, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, number * BigInt(pageBytes)));
}
