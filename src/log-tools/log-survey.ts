import type { Clock } from '../base/clock.ts';
import { CopyProgress } from './log-copy-progress.ts';
import { FoundedLog, readFounding } from '../log/founded-log.ts';
import { logStart, type EventLog } from '../log/log.ts';

export type SurveyOptions = {
  readonly clock: Clock;
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
};

/** The category of package streams: each package of a plugin has its own stream. */
const packageStreams = 'package:';

/** The properties of a log for the operator, as names and values. Reads the log to its end, so damage is detected. */
export async function describeLog(
  log: EventLog,
  options: SurveyOptions,
): Promise<readonly (readonly [string, string])[]> {
  const founding = await readFounding(log);
  const progress = new CopyProgress(options);
  progress.begin('reading');
  let events = 0;
  const packages = new Set<string>();
  for await (const batch of log.readAll({ after: logStart, signal: options.signal })) {
    events += batch.length;
    for (const { stream } of batch) {
      if (stream.startsWith(packageStreams)) packages.add(stream);
      progress.advance();
    }
  }
  options.signal.throwIfAborted();
  if (founding === undefined)
    return [
      ['id', 'none: no server has used it yet'],
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
  ];
}

/** The position of the log's end in the format of a `resourceVersion`. */
async function shownHead(log: EventLog, domain: string): Promise<string> {
  const founded = new FoundedLog(log);
  await founded.found({ domain, now: 0, uuid: () => '' });
  return (await founded.head()).toString();
}
