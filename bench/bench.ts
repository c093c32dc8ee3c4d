import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { RunOptions } from './arguments.ts';
import { Loader } from './load/loader.ts';
import type { Result } from './result.ts';
import { seed } from './subject/seed.ts';
import { startSubject } from './subject/server.ts';
import type { Subject, SubjectOptions } from './subject/server.ts';

/** The options that a measure may set for the server that it starts. */
export type StartOptions = Pick<SubjectOptions, 'eventLog' | 'settings' | 'port' | 'program'>;

export type Measure = {
  readonly name: string;
  readonly run: (bench: Bench) => Promise<readonly Result[]>;
  /** Whether the measure runs only if `--only` names it. */
  readonly isOnDemand?: boolean;
};

/** The parts that measures share: the load process, a temporary folder, and seeded data. */
export class Bench {
  readonly loader = new Loader();
  readonly rounds: number;
  readonly #options: Pick<RunOptions, 'quick' | 'profileDir'>;
  readonly #dir = mkdtempSync(join(tmpdir(), 'ledgerplane-bench-'));
  readonly #seeded = new Map<string, Promise<string>>();
  readonly #running = new Set<Subject>();
  #dirs = 0;

  constructor(options: Pick<RunOptions, 'quick' | 'profileDir'>) {
    this.#options = options;
    this.rounds = options.quick ? 2 : 5;
  }

  get isQuick(): boolean {
    return this.#options.quick;
  }

  /** Returns a number of requests or objects, or a tenth of it in a quick run. */
  scaled(count: number): number {
    return this.#options.quick ? Math.ceil(count / 10) : count;
  }

  newDataDir(): string {
    this.#dirs += 1;
    return join(this.#dir, this.#dirs.toString(), 'data');
  }

  /**
   * Returns a DATA_DIR with `count` widgets of `versions` events each, which a server has folded. All measures that
   * only read share the folder.
   */
  async seeded(count: number, versions = 1): Promise<string> {
    const key = `${String(count)} ${String(versions)}`;
    const present = this.#seeded.get(key);
    if (present !== undefined) return present;
    const made = this.#makeSeeded(count, versions);
    this.#seeded.set(key, made);
    return made;
  }

  async start(dataDir: string, options: StartOptions = {}): Promise<Subject> {
    const { profileDir } = this.#options;
    const subject = await startSubject(dataDir, {
      ...options,
      ...(profileDir === undefined ? {} : { nodeArgs: ['--cpu-prof', `--cpu-prof-dir=${profileDir}`] }),
    });
    const tracked: Subject = {
      ...subject,
      stop: async () => {
        this.#running.delete(tracked);
        await subject.stop();
      },
    };
    this.#running.add(tracked);
    return tracked;
  }

  /** Runs `task` against a server on `dataDir`, and stops the server afterwards, even after an error. */
  async withSubject<T>(
    dataDir: string,
    task: (subject: Subject) => Promise<T>,
    options: StartOptions = {},
  ): Promise<T> {
    const subject = await this.start(dataDir, options);
    try {
      return await task(subject);
    } finally {
      await subject.stop();
    }
  }

  async close(): Promise<void> {
    for (const subject of this.#running) await subject.stop().catch(() => undefined);
    this.loader.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #makeSeeded(count: number, versions: number): Promise<string> {
    const dataDir = this.newDataDir();
    console.error(`seeding ${count.toLocaleString('en')} objects of ${String(versions)} versions …`);
    await seed(dataDir, count, versions);
    await (await startSubject(dataDir)).stop();
    return dataDir;
  }
}
