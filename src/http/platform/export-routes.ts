import { exportedLog, ExportMismatchError } from '../../audit/export/exported-log.ts';
import type { ExportedLogDependencies, ExportRequest } from '../../audit/export/exported-log.ts';
import { leafRange } from '../../audit/export/leaf-range.ts';
import type { ExportPlace, RangeDependencies, RequestedRange } from '../../audit/export/leaf-range.ts';
import { jsonLine } from '../../base/json-line.ts';
import { exportsMax, exportsPerUserMax } from '../../limits/audit.ts';
import type { LogIdentity } from '../../log/log.ts';
import type { PluginLogger } from '../../plugin/api/plugin.ts';
import type { AuditProgress } from '../../read/audit-progress.ts';
import type { ObjectReader } from '../../read/objects.ts';
import { momentOf } from '../../read/decode-replay.ts';
import type { SnapshotSlot, SnapshotSlots } from '../../read/snapshot-slots.ts';
import { SigningRefusedError } from '../../read/tree.ts';
import { refusal, takenOver, type Answer } from '../answer.ts';
import { paceOf } from '../audit/entry-page.ts';
import { acceptsGzip, gzipped } from '../body/gzip.ts';
import { disconnectSignalOf, headerOf, type Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { problem, type Problem } from '../problem.ts';
import { checkParameterNames } from '../query-names.ts';
import { awaitAudit } from '../resources/await-position.ts';
import { readerOf } from '../resources/collection.ts';
import { platformApiVersion } from './platform-type.ts';

export type ExportRoutesDependencies = ExportedLogDependencies &
  Pick<RangeDependencies, 'times'> & {
    readonly domain: string;
    readonly identity: () => LogIdentity;
    readonly audit: AuditProgress;
    readonly reader: Pick<ObjectReader, 'position' | 'snapshots'>;
    readonly slots: Pick<SnapshotSlots, 'take'>;
    readonly logger: Pick<PluginLogger, 'warn'>;
  };

/**
 * Creates the route of the log export (docs/audit-proof.md), which requires the right `list` on `export`. Discovery
 * omits the export, because tools that list all resources would read the whole log.
 */
export function exportRoutes(dependencies: ExportRoutesDependencies): readonly PlatformRoute[] {
  return [
    {
      method: 'GET',
      path: `/apis/audit.${dependencies.domain}/${platformApiVersion}/export`,
      route: async (_params, exchange) => exportLog(exchange, dependencies),
    },
  ];
}

async function exportLog(exchange: Exchange, dependencies: ExportRoutesDependencies): Promise<Answer> {
  const misnamed = checkParameterNames(exchange.query, { own: ownNames }) ?? ownProblem(exchange.query);
  if (misnamed !== undefined) return refusal(misnamed);
  const requested = decodeRange(exchange.query);
  if (typeof requested === 'string') return refusal(problem('bad-request', requested));
  const { audit, reader, slots } = dependencies;
  const notYet = await awaitAudit(audit, reader.position(), exchange);
  if (notYet !== undefined) return notYet;
  const signal = disconnectSignalOf(exchange.res);
  const slot = await slots.take(readerOf(exchange), signal);
  if (slot === undefined) return signal.aborted ? takenOver : refusal(tooManyExports);
  const answer = await beginning({ exchange, signal, slot }, requested, dependencies).catch((error: unknown) => {
    slot.release();
    if (signal.aborted) return takenOver;
    if (!(error instanceof SigningRefusedError)) throw error;
    return refusal(problem('unavailable', error.message, { retryAfterSeconds: 5 }));
  });
  if (answer.kind !== 'stream') slot.release();
  return answer;
}

/**
 * Starts an export. The checkpoint is signed before the response starts, because no client can verify an export without
 * a checkpoint.
 */
async function beginning(
  begun: Beginning,
  requested: RequestedRange,
  dependencies: ExportRoutesDependencies,
): Promise<Answer> {
  const { tree, audit, identity, times } = dependencies;
  const resolved = leafRange(requested, {
    tree,
    times,
    position: () => audit.position(),
    epoch: () => identity().epoch,
    nowMs: () => begun.exchange.clock.now(),
  });
  if (!resolved.ok) return refusal(problem(resolved.reason, resolved.detail));
  const checkpoint = await tree.signedCheckpoint();
  return answerOf(begun, { range: resolved.range, checkpoint }, dependencies);
}

const tooManyExports = problem(
  'too-many-requests',
  `too many exports are running: at most ${String(exportsPerUserMax)} of a user, and ${String(exportsMax)} in total`,
  { retryAfterSeconds: 5 },
);

type Beginning = {
  readonly exchange: Exchange;
  readonly signal: AbortSignal;
  readonly slot: SnapshotSlot;
};

function answerOf(
  { exchange, signal, slot }: Beginning,
  request: ExportRequest,
  dependencies: ExportRoutesDependencies,
): Answer {
  const pace = paceOf(exchange, dependencies.reader);
  const chunks = ended(exportedLog(request, dependencies, { pace, signal }), {
    slot,
    onError: (error) => {
      dependencies.logger.warn('an export of the event log has failed', {
        requestId: exchange.requestId,
        error: String(error),
      });
    },
  });
  const isGzipped = acceptsGzip(headerOf(exchange.req, 'accept-encoding'));
  const encoding = isGzipped ? ['Content-Encoding', 'gzip'] : [];
  return {
    kind: 'stream',
    chunks: isGzipped ? gzipped(chunks) : chunks,
    contentType: 'application/jsonl',
    headers: [...encoding, 'Vary', 'Accept-Encoding'],
    slot,
  };
}

type Ending = {
  readonly slot: SnapshotSlot;
  readonly onError: (error: unknown) => void;
};

/** Yields the chunks. An error becomes the last line, because the response has already started. */
async function* ended(chunks: AsyncIterable<Uint8Array>, { slot, onError }: Ending): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    onError(error);
    const message = error instanceof ExportMismatchError ? error.message : 'the event log cannot be read now';
    yield jsonLine({ kind: 'Failure', message });
  } finally {
    slot.release();
  }
}

const ownNames = ['from', 'after', 'until'];
/** Parameters of lists that an export refuses. Ignoring these parameters would return a wrong result. */
const ofListsOnly = ['labelSelector', 'fieldSelector', 'sort', 'page', 'size', 'limit', 'continue', 'resourceVersion'];

function ownProblem(query: URLSearchParams): Problem | undefined {
  const given = ofListsOnly.find((name) => query.has(name));
  return given === undefined ? undefined : problem('bad-request', `${given}: is not a parameter of an export`);
}

/** Returns the problem of an invalid query as a string. */
function decodeRange(query: URLSearchParams): RequestedRange | string {
  const [from, after, until] = [placeIn(query, 'from'), placeIn(query, 'after'), placeIn(query, 'until')];
  if (typeof from === 'string') return from;
  if (typeof after === 'string') return after;
  if (typeof until === 'string') return until;
  if (from !== undefined && after !== undefined) return 'from and after cannot be combined';
  if (from !== undefined) return { start: { kind: 'from', place: from }, until };
  return { start: after === undefined ? undefined : { kind: 'after', place: after }, until };
}

function placeIn(query: URLSearchParams, name: string): ExportPlace | string | undefined {
  const [text, ...more] = query.getAll(name);
  if (text === undefined || text === '') return undefined;
  const [, digits] = /^leaf:(\d{1,15})$/u.exec(text) ?? [];
  const place = digits === undefined ? momentOf(text) : { kind: 'leaf' as const, index: Number(digits) };
  return more.length > 0 || place === 'invalid'
    ? `${name} must be a position of the log, a time (RFC 3339), or leaf:<index>, and must not be repeated`
    : place;
}
