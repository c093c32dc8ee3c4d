import type { Clock } from '../base/clock.ts';
import type { TreeSize } from '../command/event.ts';
import { agreement, type KeptCheckpoint } from './log-checkpoint.ts';
import { CopyProgress } from './log-copy-progress.ts';
import { FoundedLog, readFounding } from '../log/founded-log.ts';
import { logStart, type EventLog, type RecordedEvent } from '../log/log.ts';
import { LogTree } from './log-tree.ts';

export type SurveyOptions = {
  readonly clock: Clock;
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
  /** The checkpoint to compare with the log. */
  readonly checkpoint: KeptCheckpoint | undefined;
};

/** The prefix of package streams. Each package has its own stream. */
const packageStreams = 'package:';

/**
 * Returns the properties of a log, as names and values. Reads the whole log, so that damage is detected.
 *
 * @throws LogDiffersError if the log does not agree with the checkpoint.
 */
export async function describeLog(
  log: EventLog,
  options: SurveyOptions,
): Promise<readonly (readonly [string, string])[]> {
  const founding = await readFounding(log);
  const progress = new CopyProgress(options);
  progress.begin('reading');
  let events = 0;
  const packages = new Set<string>();
  const tree = new TreeUntil(options.checkpoint?.size);
  for await (const batch of log.readAll({ after: logStart, signal: options.signal })) {
    events += batch.length;
    for (const event of batch) {
      if (event.stream.startsWith(packageStreams)) packages.add(event.stream);
      tree.add(event);
      progress.advance();
    }
  }
  options.signal.throwIfAborted();
  const { size, root } = tree.now();
  const agrees = options.checkpoint && agreement(options.checkpoint, { there: tree.there, size });
  if (founding === undefined)
    return [
      ['id', 'none: no server has used this log yet'],
      ['events', events.toString()],
    ];
  const { logId, domain, epoch, reason, finished, copyOf } = founding;
  const origin = copyOf === undefined ? reason : `${reason} from log ${copyOf.logId}, epoch ${copyOf.epoch.toString()}`;
  const head = finished ? await shownHead(log, domain) : 'an unfinished copy: no server can use it yet';
  return [
    ['id', logId],
    ['domain', domain],
    ['epoch', `${epoch.toString()} (${origin})`],
    ['events', events.toString()],
    ...(packages.size === 0 ? [] : [['packages', packages.size.toString()] as const]),
    ['head', head],
    ['tree', `${size.toString()} leaves with root ${root}`],
    ...(agrees === undefined ? [] : [['checkpoint', agrees] as const]),
  ];
}

/** The tree over the added events, and the earlier tree with a given number of leaves. */
class TreeUntil {
  readonly #tree = new LogTree();
  readonly #size: number | undefined;
  /** The tree with the given number of leaves; undefined before the log has enough leaves. */
  there: TreeSize | undefined;

  constructor(size: number | undefined) {
    this.#size = size;
    this.#look();
  }

  add(event: RecordedEvent): void {
    this.#tree.add(event);
    this.#look();
  }

  now(): TreeSize {
    return this.#tree.now();
  }

  #look(): void {
    if (this.there === undefined && this.#tree.size === this.#size) this.there = this.#tree.now();
  }
}

/** Returns the position of the log's end, as clients see it in a `resourceVersion`. */
async function shownHead(log: EventLog, domain: string): Promise<string> {
  const founded = new FoundedLog(log);
  await founded.found({ domain, now: 0, uuid: () => '' });
  return (await founded.head()).toString();
}
