import { entryOf } from '../../../audit/tree/entries.ts';
import { consistencyProof, inclusionProof } from '../../../audit/proof/proofs.ts';
import type { Hash } from '../../../audit/proof/merkle.ts';
import { logPosition, type RecordedEvent } from '../../../log/log.ts';
import { jsonAnswer, refusal, type Answer } from '../../answer.ts';
import type { Exchange } from '../../exchange.ts';
import { problem, type ProblemResult } from '../../problem.ts';
import { shown } from '../../resources/decode-list-query.ts';
import { fromLog, type TreePorts } from './tree-ports.ts';

type Decoded<T> = { readonly ok: true; readonly value: T } | ProblemResult;

/**
 * Returns the proof that an event is in the tree. The request names the leaf index, or the position and id of the
 * event.
 */
export async function answerInclusion({ query }: Exchange, ports: TreePorts): Promise<Answer> {
  const { tree, signer } = ports;
  const size = sizeIn(query, 'size', tree.size());
  if (!size.ok) return refusal(size.problem);
  const leaf = await leafIn(query, size.value, ports);
  if (!leaf.ok) return refusal(leaf.problem);
  const { index, recorded } = leaf.value;
  return jsonAnswer({
    apiVersion: 'v1alpha1',
    kind: 'InclusionProof',
    origin: signer.origin,
    size: size.value,
    root: base64(tree.root(size.value)),
    index,
    entry: entryOf(tree, index, recorded).toString(),
    hashes: inclusionProof(index, size.value, tree.nodeHash).map(base64),
  });
}

/** Returns the proof that the tree of `from` leaves is a prefix of the tree of `to` leaves. */
export function answerConsistency({ query }: Exchange, { tree, signer }: TreePorts): Answer {
  const to = sizeIn(query, 'to', tree.size());
  if (!to.ok) return refusal(to.problem);
  if (!query.has('from')) return refusal(problem('bad-request', 'from: the size of the older tree is required'));
  const from = sizeIn(query, 'from', tree.size());
  if (!from.ok) return refusal(from.problem);
  if (from.value > to.value) {
    const sizes = `from is ${String(from.value)} and to is ${String(to.value)}`;
    return refusal(problem('bad-request', `${sizes}: from must not be larger than to`));
  }
  return jsonAnswer({
    apiVersion: 'v1alpha1',
    kind: 'ConsistencyProof',
    origin: signer.origin,
    from: from.value,
    fromRoot: base64(tree.root(from.value)),
    to: to.value,
    toRoot: base64(tree.root(to.value)),
    hashes: consistencyProof(from.value, to.value, tree.nodeHash).map(base64),
  });
}

type Leaf = {
  readonly index: number;
  readonly recorded: RecordedEvent;
};

async function leafIn(query: URLSearchParams, size: number, ports: TreePorts): Promise<Decoded<Leaf>> {
  const isNamed = query.has('id') || query.has('position');
  if (query.has('index') === isNamed) return refused('either index, or position and id, must be given');
  if (isNamed) return namedLeaf(query, size, ports);
  const index = numberIn(query, 'index');
  if (index === undefined || index >= size) return refused(`index: must be below the size, ${String(size)}`);
  return leafAt(index, ports);
}

async function namedLeaf(query: URLSearchParams, size: number, ports: TreePorts): Promise<Decoded<Leaf>> {
  const [id, text] = [query.get('id') ?? '', query.get('position') ?? ''];
  if (id === '' || !/^[1-9]\d{0,29}$/u.test(text))
    return refused('position and id: the position of an event in the log and its id are required');
  const position = logPosition(BigInt(text));
  if (!ports.reader.isKnown(position))
    return { ok: false, problem: problem('expired', `position ${text} belongs to another epoch of the log`) };
  const index = ports.tree.indexOf(position);
  const leaf = index === undefined ? undefined : await leafAt(index, ports);
  if (leaf?.ok === false) return leaf;
  if (leaf?.value.recorded.id !== id)
    return { ok: false, problem: problem('not-found', `the tree has no event ${shown(id)} at this position`) };
  const isSmaller = size <= leaf.value.index;
  return isSmaller ? refused(`size: must be larger than ${String(index)}, the leaf index of the event`) : leaf;
}

async function leafAt(index: number, { tree, log }: Pick<TreePorts, 'tree' | 'log'>): Promise<Decoded<Leaf>> {
  const recorded = await fromLog(log.readAt(tree.positionOf(index)));
  if (recorded !== undefined) return { ok: true, value: { index, recorded } };
  const detail = `the log cannot be read at the position of leaf ${String(index)}`;
  return { ok: false, problem: problem('unavailable', detail, { retryAfterSeconds: 1 }) };
}

/** Decodes the size of a tree, in leaves. `all` is the size of the whole tree, the default and the maximum. */
function sizeIn(query: URLSearchParams, name: string, all: number): Decoded<number> {
  const size = query.has(name) ? numberIn(query, name) : all;
  if (size !== undefined && size <= all) return { ok: true, value: size };
  return refused(`${name}: must be a whole number of leaves, at most ${String(all)}`);
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  return /^(?:0|[1-9]\d{0,14})$/u.test(text) ? Number(text) : undefined;
}

function refused(detail: string): ProblemResult {
  return { ok: false, problem: problem('bad-request', detail) };
}

function base64(hash: Hash): string {
  return Buffer.from(hash).toString('base64');
}
