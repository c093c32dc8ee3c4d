import type { TrustedKey } from '../../../audit/keys/key-chain.ts';
import { verifierKeyOfRaw } from '../../../audit/keys/key-statement.ts';
import { ChangedLeafError, entryBundle } from '../../../audit/tree/entries.ts';
import { verifierKeyText } from '../../../audit/proof/signed-note.ts';
import { jsonAnswer, refusal, takenOver, textAnswer, type Answer } from '../../answer.ts';
import { paceOf } from '../../audit/entry-page.ts';
import { disconnectSignalOf, type Exchange } from '../../exchange.ts';
import type { FixedRoute, PlatformRoute } from '../../fixed-routes.ts';
import { problem } from '../../problem.ts';
import { awaitAudit } from '../../resources/await-position.ts';
import { readerOf, tooManyReading } from '../../resources/collection.ts';
import { answerConsistency, answerInclusion } from './proof-answers.ts';
import { parseTilePath, tileWidth, type TilePath } from './tile-path.ts';
import { fromLog, UnreadLogError, type TreePorts } from './tree-ports.ts';

const prefix = '/audit/tree';
/** The path patterns of tiles: a level, one to three segments for the number, and a width. */
const tilePatterns = ['{level}/{a}', '{level}/{a}/{b}', '{level}/{a}/{b}/{c}', '{level}/{a}/{b}/{c}/{d}'];

/**
 * Creates the routes of the tree over the log's events: a C2SP `tlog-tiles` log, with keys and proofs as JSON. All
 * routes are below one path, which rules can grant as `nonResourceURLs`.
 */
export function treeRoutes(ports: TreePorts): readonly PlatformRoute[] {
  const route = (path: string, answer: (exchange: Exchange) => Answer | Promise<Answer>): PlatformRoute => ({
    method: 'GET',
    path: `${prefix}/${path}`,
    route: whenFolded(ports, answer),
  });
  return [
    route('checkpoint', async () => answerCheckpoint(ports)),
    route('keys', async () => answerKeys(ports)),
    route('inclusion', async (exchange) => answerInclusion(exchange, ports)),
    route('consistency', (exchange) => answerConsistency(exchange, ports)),
    ...tilePatterns.map((pattern) => route(`tile/${pattern}`, async (exchange) => answerTile(exchange, ports))),
  ];
}

/**
 * Waits until the tree contains all events in the read models, and then handles a request. The response is a 503 if the
 * log cannot be read, or differs from the tree.
 */
function whenFolded(
  { audit, reader }: TreePorts,
  answer: (exchange: Exchange) => Answer | Promise<Answer>,
): FixedRoute {
  return async (_params, exchange) => {
    const notYet = await awaitAudit(audit, reader.position(), exchange);
    if (notYet !== undefined) return notYet;
    try {
      return await answer(exchange);
    } catch (error) {
      if (exchange.res.closed) return takenOver;
      if (!(error instanceof ChangedLeafError || error instanceof UnreadLogError)) throw error;
      return refusal(problem('unavailable', error.message, { retryAfterSeconds: 1 }));
    }
  };
}

async function answerCheckpoint({ signer }: TreePorts): Promise<Answer> {
  const signing = await signer.sign();
  if (signing.ok) return textAnswer(signing.checkpoint.note);
  return refusal(problem(signing.reason, signing.detail, { retryAfterSeconds: 5 }));
}

async function answerKeys({ signer: { origin }, keys }: TreePorts): Promise<Answer> {
  const { trusted } = await fromLog(keys.chain());
  const items = trusted.map((key) => shownKey(origin, key));
  return jsonAnswer({ apiVersion: 'v1alpha1', kind: 'TreeKeyList', origin, items });
}

function shownKey(origin: string, { key, by, note, eventId, position, time }: TrustedKey): unknown {
  const verifier = verifierKeyOfRaw(origin, key);
  return {
    verifierKey: verifier === undefined ? undefined : verifierKeyText(verifier),
    key,
    signedBy: by,
    note,
    time,
    id: eventId,
    position: position.toString(),
  };
}

async function answerTile(exchange: Exchange, ports: TreePorts): Promise<Answer> {
  const path = parseTilePath(exchange.info.segments.slice(3));
  if (path === undefined)
    return refusal(
      problem('bad-request', 'the path of a tile is tile/<level>/<number>[.p/<width>], as in tile/0/x001/234.p/56'),
    );
  const { level, number, width } = path;
  const first = number * tileWidth;
  const { tree } = ports;
  const existing = Math.floor(tree.size() / tileWidth ** (level === 'entries' ? 0 : level));
  if (first + width > existing)
    return refusal(problem('not-found', `the tree of ${String(tree.size())} leaves does not contain this tile`));
  const bytes =
    level === 'entries' ? await readEntries(exchange, ports, path) : Buffer.from(tree.hashes(level, first, width));
  if (bytes === undefined) return refusal(tooManyReading);
  return { kind: 'bytes', status: 200, bytes, headers: [], contentType: 'application/octet-stream' };
}

/** Reads a bundle of entries from the log. Reads of bundles and of lists take turns by user. */
async function readEntries(
  exchange: Exchange,
  { tree, log, categories, reader }: TreePorts,
  { number, width }: TilePath,
): Promise<Buffer | undefined> {
  const signal = disconnectSignalOf(exchange.res);
  const slot = await reader.snapshots.take(readerOf(exchange), signal);
  if (slot === undefined) return undefined;
  const read = { log, categories, signal, pace: paceOf(exchange, reader, signal) };
  try {
    return await fromLog(entryBundle(tree, { first: number * tileWidth, count: width }, read));
  } finally {
    slot.release();
  }
}
