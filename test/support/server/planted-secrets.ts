import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { decodeEvent } from '../../../src/log/event-codec.ts';
import { openLmdbLog } from '../../../src/log/lmdb/lmdb-log.ts';
import { logStart, type RecordedEvent } from '../../../src/log/log.ts';

type Heard = { readonly where: string; readonly text: string; readonly shown: readonly string[] };

/** The secrets of a test by their kind, and all observed output of a server. No output may contain a secret. */
export class PlantedSecrets {
  readonly #secrets = new Map<string, string>();
  readonly #texts: Heard[] = [];

  /** Makes a secret of letters and digits, which looks the same in JSON, in a form and in a path. */
  plant(what: string): string {
    return this.know(what, `planted${randomBytes(12).toString('hex')}`);
  }

  know(what: string, text: string): string {
    if (text.length < 16) throw new Error(`${what} is too short to be distinguished from other text`);
    this.#secrets.set(what, text);
    return text;
  }

  /** Adds an output. `shown`: the kinds of secrets that this output may contain, because the request asks for them. */
  add(where: string, text: string, shown: readonly string[] = []): void {
    this.#texts.push({ where, text, shown });
  }

  get size(): number {
    return this.#texts.length;
  }

  leaks(): readonly string[] {
    return this.#texts.flatMap(({ where, text, shown }) =>
      this.in(text)
        .filter((what) => !shown.includes(what))
        .map((what) => `${where} tells ${what}`),
    );
  }

  in(text: string): readonly string[] {
    return [...this.#secrets].filter(([, secret]) => text.includes(secret)).map(([what]) => what);
  }

  /** Adds the stored forms of secrets (digests, salts and hashes), which no response and no log line may contain. */
  knowKept(events: readonly RecordedEvent[]): number {
    let known = 0;
    for (const recorded of events) {
      const { event } = decodeEvent(recorded);
      if (event.type === 'TokenIssued') this.know(`the digest in ${recorded.stream}`, event.digest);
      if (event.type === 'PasswordSet') {
        const [, , , salt = '', hash = ''] = event.hash.split('$');
        this.know(`the salt ${String(recorded.revision)} in ${recorded.stream}`, salt);
        this.know(`the hash ${String(recorded.revision)} in ${recorded.stream}`, hash);
      }
      if (event.type === 'TokenIssued' || event.type === 'PasswordSet') known += 1;
    }
    return known;
  }
}

/** Returns all events in the log of a stopped server. */
export async function recordedIn(dataDir: string): Promise<readonly RecordedEvent[]> {
  const log = await openLmdbLog({
    dir: join(dataDir, 'log'),
    onFatal: (error) => {
      throw error;
    },
  });
  const events: RecordedEvent[] = [];
  for await (const batch of log.readAll({ after: logStart })) events.push(...batch);
  await log.close();
  return events;
}

/** Returns the bytes of every file in a folder and its subfolders. */
export async function filesIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(paths.map(async (path) => [path, (await readFile(path)).toString('latin1')] as const)),
  );
}
