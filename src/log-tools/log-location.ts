import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

import { decodeConfig, type Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { StartError } from '../base/start-error.ts';
import { eventStorePrefixDefault } from '../config/eventstore-prefix.ts';
import { decodeEventStoreUrl, eventStoreHosts } from '../config/eventstore-url.ts';

/** The location of a log. Output contains only `shown`, because the address may contain a password. */
export type LogLocation = Pick<Config, 'eventLog' | 'dataDir'> & { readonly shown: string };

export type LocationSettings = {
  readonly environment: Environment;
  readonly folder: string;
};

/**
 * Decodes the location of a log. `prefix` overrides EVENTSTORE_PREFIX.
 *
 * @throws StartError for an invalid location. The message does not contain the location.
 */
export function logLocation(
  option: string,
  words: string,
  { environment, folder }: LocationSettings,
  prefix?: string,
): LogLocation {
  const [scheme = ''] = words.split(':', 1);
  const dir = scheme === 'embedded' ? words.slice('embedded:'.length) : '';
  const settings = {
    DATA_DIR: dir === '' ? environment['DATA_DIR'] : dir,
    EVENT_LOG: scheme === 'embedded' ? 'embedded:' : words,
    EVENTSTORE_PREFIX: prefix ?? environment['EVENTSTORE_PREFIX'],
  };
  const decoded = decodeConfig(settings, folder);
  if (!decoded.ok)
    throw new StartError(
      decoded.mistakes.map((mistake) => inWordsOf(option, mistake, prefix !== undefined)).join('\n'),
      { exitCode: 2 },
    );
  const { eventLog, dataDir } = decoded.config;
  return {
    eventLog,
    dataDir,
    shown: eventLog.kind === 'embedded' ? `embedded:${dataDir}` : shownUrl(words) + shownPrefix(eventLog.prefix),
  };
}

function inWordsOf(option: string, mistake: string, hasPrefix: boolean): string {
  return hasPrefix
    ? mistake.replace(/^EVENT_LOG/u, option).replace(/^EVENTSTORE_PREFIX/u, `${option}-prefix`)
    : mistake.replace(/^EVENT_LOG/u, option);
}

function shownPrefix(prefix: string): string {
  return prefix === eventStorePrefixDefault ? '' : ` ${prefix}`;
}

function shownUrl(url: string): string {
  const decoded = decodeEventStoreUrl(url);
  return decoded.ok ? `esdb://${eventStoreHosts(decoded.url).replaceAll(', ', ',')}` : 'esdb://…';
}

export function isSameLocation(one: LogLocation, other: LogLocation): boolean {
  if (one.eventLog.kind === 'eventstore' || other.eventLog.kind === 'eventstore') return false;
  return real(one.dataDir) === real(other.dataDir);
}

function real(dir: string): string {
  try {
    return realpathSync(dir);
  } catch {
    return resolve(dir);
  }
}

/** Removes the addresses of the logs, and their passwords, from a message. */
export function withoutCredentials(text: string, places: readonly LogLocation[]): string {
  let cleaned = text;
  for (const { eventLog } of places) {
    if (eventLog.kind !== 'eventstore') continue;
    const [, written = ''] = /\/\/[^@]*?:([^@]*)@/u.exec(eventLog.url) ?? [];
    const decoded = decodeEventStoreUrl(eventLog.url);
    const password = decoded.ok ? (decoded.url.credentials?.password ?? '') : '';
    for (const secret of [eventLog.url, written, password])
      if (secret !== '') cleaned = cleaned.replaceAll(secret, '…');
  }
  return cleaned;
}
