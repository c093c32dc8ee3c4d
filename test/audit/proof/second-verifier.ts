import { createHash, createPublicKey, verify } from 'node:crypto';

/**
 * A second verifier, written from docs/audit-proof.md alone: it shares no code with the server. Returns the problem, or
 * undefined for an export that is proven.
 */
export function secondVerifier(file: Buffer, key: string): string | undefined {
  try {
    verifyExport(file, key);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

type Bytes = string | { readonly base64: string };
/** Members of all kinds of lines. */
type Line = {
  readonly kind: string;
  readonly format: number;
  readonly origin: string;
  readonly from: number;
  readonly until: number;
  readonly left: readonly string[];
  readonly right: readonly string[];
  readonly checkpoint: string;
  readonly index: number;
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly metadata: Bytes;
  readonly data: Bytes & { readonly sha256: string };
};
type Node = { readonly size: number; readonly hash: Buffer };

function verifyExport(file: Buffer, key: string): void {
  const lines = file.toString('latin1').split('\n');
  must(lines.pop() === '', 'the last line has no end');
  const [header, ...rest] = lines.map((line) => parsed(Buffer.from(line, 'latin1')));
  const end = rest.pop();
  must(header?.kind === 'Export' && header.format === 1 && end?.kind === 'End', 'header or end');
  const nodes = covering(0, header.from, header.left);
  let index = header.from;
  let position = -1n;
  for (const line of rest) {
    if (line.kind === 'Checkpoint') {
      const { size, root } = signedCheckpoint(line.checkpoint, header.origin, key);
      must(size === index && root === rootOf(nodes).toString('base64'), `the checkpoint before leaf ${String(index)}`);
      continue;
    }
    must(line.kind === 'Event' && line.index === index, `leaf ${String(index)}`);
    must(BigInt(line.position) > position, `the position of leaf ${String(index)}`);
    position = BigInt(line.position);
    const { stream, revision, id, type, metadata, data } = line;
    const isSecret = stream.startsWith('secret:');
    const dataHash = isSecret ? data.sha256 : hex(bytesOf(data));
    const entry = JSON.stringify([1, stream, revision, id, type, hex(bytesOf(metadata)), dataHash]);
    push(nodes, { size: 1, hash: sha256('\0', entry) });
    index += 1;
  }
  must(index === header.until, 'the number of events');
  const { size, root } = signedCheckpoint(end.checkpoint, header.origin, key);
  for (const node of covering(index, size, end.right)) push(nodes, node);
  must(rootOf(nodes).toString('base64') === root, 'the root');
}

function parsed(line: Buffer): Line {
  const [body, tail] = [line.subarray(0, -54), line.subarray(-54).toString('latin1')];
  must(tail === `,"sum":"${sha256(body).toString('base64')}"}`, 'a sum');
  const value = JSON.parse(`${body.toString()}}`) as Line;
  must(JSON.stringify(value) === `${body.toString()}}`, 'the form of a line');
  return value;
}

function signedCheckpoint(note: string, origin: string, key: string): { readonly size: number; readonly root: string } {
  const middle = note.indexOf('\n\n');
  const [text, signatures] = [note.slice(0, middle + 1), note.slice(middle + 2)];
  const [name, id, encoded = ''] = key.split(/\+(?=[0-9a-f]{8}\+)|(?<=\+[0-9a-f]{8})\+/u);
  const x = Buffer.from(encoded, 'base64').subarray(1).toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const isSigned = signatures.split('\n').some((line) => {
    const signature = Buffer.from(line.replace(`— ${String(name)} `, ''), 'base64');
    const isOurs =
      `— ${String(name)} ${signature.toString('base64')}` === line && signature.toString('hex', 0, 4) === id;
    return isOurs && verify(undefined, Buffer.from(text), publicKey, signature.subarray(4));
  });
  const [first, size, root = '', ...more] = text.split('\n');
  must(isSigned && first === origin && name === origin && more.join() === '', 'the checkpoint');
  return { size: Number(size), root };
}

/** The fewest full subtrees that cover a range of leaves, largest where they fit. */
function covering(from: number, until: number, hashes: readonly string[]): Node[] {
  const nodes: Node[] = [];
  for (let at = from; at < until;) {
    let size = 1;
    while (at % (size * 2) === 0 && at + size * 2 <= until) size *= 2;
    nodes.push({ size, hash: Buffer.from(hashes[nodes.length] ?? '', 'base64') });
    at += size;
  }
  must(from <= until && nodes.length === hashes.length, 'the number of hashes');
  return nodes;
}

/** Nodes before a range are never smaller than those in it, so equal ones beside each other are siblings. */
function push(nodes: Node[], node: Node): void {
  const left = nodes.at(-1);
  if (left?.size !== node.size) nodes.push(node);
  else push(nodes, { size: 2 * node.size, hash: sha256('\x01', nodes.pop()?.hash ?? '', node.hash) });
}

function rootOf(nodes: readonly Node[]): Buffer {
  if (nodes.length === 0) return sha256();
  return nodes.map(({ hash }) => hash).reduceRight((right, left) => sha256('\x01', left, right));
}

function bytesOf(text: Bytes): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.base64, 'base64');
}

function hex(bytes: Uint8Array): string {
  return sha256(bytes).toString('hex');
}

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function must(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
