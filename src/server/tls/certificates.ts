import { stat } from 'node:fs/promises';

import { StartError } from '../../base/start-error.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Config } from '../../config/config.ts';
import { readPair, type CertificateFiles, type CertificatePair } from '../../config/tls-files.ts';
import { tlsLookMs, tlsRenewalLookMs } from '../../limits/tls.ts';
import type { PluginLogger } from '../../plugin/api/plugin.ts';
import { isDue, ownCertificate } from './own-certificate.ts';

export type CertificatesEdge = {
  readonly clock: Clock;
  readonly log: Pick<PluginLogger, 'info' | 'warn' | 'error'>;
};

/** The certificate of the server, which may be replaced while the server runs. */
export type Certificates = {
  readonly current: CertificatePair;
  /** Calls `use` with each later certificate. */
  follow(use: (pair: CertificatePair) => void): void;
  /** Checks for a new certificate now. */
  reload(): void;
  /** Stops following the files. Resolves when no read is in progress. */
  stop(): Promise<void>;
};

/**
 * Returns the server's certificate; undefined without TLS.
 *
 * @throws StartError if the certificate cannot be read or created.
 */
export async function openCertificates(config: Config, edge: CertificatesEdge): Promise<Certificates | undefined> {
  const { tls } = config;
  if (tls.kind === 'off') return undefined;
  const source = tls.kind === 'auto' ? ownSource(config, edge) : await fileSource(tls.files, edge);
  return new FollowedCertificate(await source.first(), source, edge);
}

type Source = {
  readonly lookMs: number;
  first(): Promise<CertificatePair>;
  /**
   * Returns a valid certificate that replaces `current`; undefined without such a certificate. Logs why changed files
   * are invalid.
   */
  next(current: CertificatePair, isRequested: boolean): Promise<CertificatePair | undefined>;
};

class FollowedCertificate implements Certificates {
  current: CertificatePair;
  readonly #source: Source;
  readonly #edge: CertificatesEdge;
  #use: (pair: CertificatePair) => void = () => undefined;
  #timer: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(first: CertificatePair, source: Source, edge: CertificatesEdge) {
    this.current = first;
    this.#source = source;
    this.#edge = edge;
  }

  follow(use: (pair: CertificatePair) => void): void {
    this.#use = use;
    this.#wait();
  }

  reload(): void {
    this.#check(true);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#looking;
  }

  #wait(): void {
    if (this.#isStopped) return;
    this.#timer = this.#edge.clock.after(this.#source.lookMs, () => {
      this.#check(false);
    });
  }

  /** Runs one check at a time. */
  #check(isRequested: boolean): void {
    this.#timer?.cancel();
    this.#looking = this.#looking.then(async () => {
      if (this.#isStopped) return;
      try {
        const next = await this.#source.next(this.current, isRequested);
        if (next !== undefined) this.#take(next);
      } catch (error) {
        this.#edge.log.error('could not renew the TLS certificate; the current certificate remains in use', {
          error: String(error),
        });
      }
      this.#timer?.cancel();
      this.#wait();
    });
  }

  #take(pair: CertificatePair): void {
    this.#use(pair);
    this.current = pair;
    this.#edge.log.info('new connections use a new TLS certificate', {
      expires: new Date(pair.expiresAt).toISOString(),
    });
  }
}

function ownSource(config: Config, { clock }: CertificatesEdge): Source {
  return {
    lookMs: tlsRenewalLookMs,
    first: async () => ownCertificate(config, clock.now()),
    next: async (current) => (isDue(current, clock.now()) ? ownCertificate(config, clock.now()) : undefined),
  };
}

/** Reads the operator's files. Unchanged files are read again only on request. */
async function fileSource(files: CertificateFiles, { clock, log }: CertificatesEdge): Promise<Source> {
  let seen = await stateOf(files);
  return {
    lookMs: tlsLookMs,
    first: async () => {
      const read = readPair(files);
      if (!read.ok) throw new StartError(read.problems.join('\n'), { exitCode: 2 });
      if (clock.now() >= read.pair.expiresAt)
        log.warn('the TLS certificate has expired', { expires: new Date(read.pair.expiresAt).toISOString() });
      return Promise.resolve(read.pair);
    },
    next: async (current, isRequested) => {
      const state = await stateOf(files);
      if (state === seen && !isRequested) return undefined;
      seen = state;
      const read = readPair(files);
      const problems = read.ok ? expiryProblems(read.pair, clock.now()) : read.problems;
      if (read.ok && problems.length === 0) return isSame(read.pair, current) ? undefined : read.pair;
      log.warn('the new TLS files are invalid; the current certificate remains in use', { problems });
      return undefined;
    },
  };
}

function expiryProblems({ expiresAt }: CertificatePair, now: number): readonly string[] {
  return now < expiresAt ? [] : [`the certificate in TLS_CERT expired on ${new Date(expiresAt).toISOString()}`];
}

function isSame(one: CertificatePair, other: CertificatePair): boolean {
  return one.certificate === other.certificate && one.key === other.key;
}

/** Returns a text that changes when one of the files is written or replaced. */
async function stateOf({ certificate, key }: CertificateFiles): Promise<string> {
  const states = [certificate, key].map(async (path) => {
    try {
      const { ino, size, mtimeMs, ctimeMs } = await stat(path);
      return [ino, size, mtimeMs, ctimeMs].join(' ');
    } catch {
      return 'missing';
    }
  });
  return (await Promise.all(states)).join();
}
