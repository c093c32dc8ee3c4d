import { backupRetryAfterSeconds } from '../../limits/backup.ts';
import type { Backer, BackupRefusal } from '../../read/backup.ts';
import { refusal, type Answer } from '../answer.ts';
import { readObject } from '../body/read-object.ts';
import { disconnectSignalOf, type Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { problem, type Problem } from '../problem.ts';
import { platformApiVersion } from './platform-type.ts';

/**
 * Creates the route of backups, which requires the right `create` on `backups`. The response is a stream of JSON lines.
 * A disconnect of the client ends the backup.
 */
export function backupRoutes(domain: string, backer: Backer): readonly PlatformRoute[] {
  const group = `audit.${domain}`;
  const names = { plural: 'backups', singular: 'backup', kind: 'Backup' };
  return [
    {
      method: 'POST',
      path: `/apis/${group}/${platformApiVersion}/${names.plural}`,
      resource: { ...names, group, version: platformApiVersion, verbs: ['create'], subresources: [] },
      route: async (_params, exchange) => backUp(exchange, backer),
    },
  ];
}

async function backUp(exchange: Exchange, backer: Backer): Promise<Answer> {
  const body = await readObject(exchange);
  if (!body.ok) return body.answer;
  const { name, ...others } = body.value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    return refusal(problem('bad-request', `the body has the unknown member ${JSON.stringify(unknown)}`));
  if (name !== undefined && typeof name !== 'string') return refusal(problem('bad-request', 'name must be a string'));
  const started = await backer.start({ name, signal: disconnectSignalOf(exchange.res) });
  return started.ok
    ? { kind: 'stream', chunks: started.lines, contentType: 'application/jsonl' }
    : refusal(problemOfRefusal(started));
}

function problemOfRefusal({ reason, detail }: BackupRefusal): Problem {
  const isPassing = reason === 'unavailable' || reason === 'too-many-requests';
  return problem(reason, detail, isPassing ? { retryAfterSeconds: backupRetryAfterSeconds } : {});
}
