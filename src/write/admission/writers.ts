import type { Clock } from '../../base/clock.ts';
import { networkOf } from '../../base/network-of.ts';
import type { Subject } from '../../command/subject.ts';
import { writersKnownMax, writersLookedAtMax } from '../../limits/writes.ts';
import { Allowance, Writer, type WriteRates, type WriterKind } from './writer.ts';

export type WritersDependencies = {
  readonly clock: Clock;
  readonly rates: WriteRates;
  /** Returns whether the user is a super administrator. */
  readonly isSuperAdministrator: (subject: Subject) => boolean;
};

/**
 * The writers of one kind, by name or network. Beyond `writersKnownMax` writers, a new writer replaces an unused
 * writer, preferably one with full buckets. The number grows further only if no unused writer is found.
 */
class KnownWriters {
  readonly #make: (now: number) => Writer;
  readonly #writers = new Map<string, Writer>();

  constructor(make: (now: number) => Writer) {
    this.#make = make;
  }

  of(key: string, clock: Clock): Writer {
    const known = this.#writers.get(key);
    if (known !== undefined) return known;
    const now = clock.monotonic();
    if (this.#writers.size >= writersKnownMax) this.#makeRoom(now);
    const writer = this.#make(now);
    this.#writers.set(key, writer);
    return writer;
  }

  /**
   * Drops at most one of the oldest writers: the first idle writer, or else the first unused writer. Moves the other
   * checked writers to the end.
   */
  #makeRoom(now: number): void {
    let unused: string | undefined;
    for (let checked = 0; checked < writersLookedAtMax; checked += 1) {
      const [next] = this.#writers;
      if (next === undefined) return;
      const [key, writer] = next;
      this.#writers.delete(key);
      if (writer.isIdle(now)) return;
      this.#writers.set(key, writer);
      if (writer.isUnused()) unused ??= key;
    }
    if (unused !== undefined) this.#writers.delete(unused);
  }
}

/** The writers on this node. All credentials of a user belong to one writer. Nodes do not share writers. */
export class Writers {
  readonly #dependencies: WritersDependencies;
  readonly #users: KnownWriters;
  readonly #networks: KnownWriters;
  readonly #superAdministrators: KnownWriters;
  readonly #plugins: KnownWriters;
  readonly #platform = new Writer('trusted');

  constructor(dependencies: WritersDependencies) {
    this.#dependencies = dependencies;
    const limited = (now: number): Writer => new Writer('limited', new Allowance(dependencies.rates, now));
    const unlimited = (kind: WriterKind) => (): Writer => new Writer(kind);
    this.#users = new KnownWriters(limited);
    this.#networks = new KnownWriters(limited);
    this.#superAdministrators = new KnownWriters(unlimited('trusted'));
    this.#plugins = new KnownWriters(unlimited('plugin'));
  }

  /** Returns writers without rate limits. Each user is treated as a super administrator. */
  static unlimited(clock: Clock): Writers {
    return new Writers({ clock, rates: { writes: undefined, bytes: undefined }, isSuperAdministrator: () => true });
  }

  /**
   * Returns the writer of a subject. Visitors in the same network have the same writer. `address` is the visitor's
   * address.
   */
  of(subject: Subject, address: string | undefined): Writer {
    const { clock, isSuperAdministrator } = this.#dependencies;
    switch (subject.kind) {
      case 'platform':
        return this.#platform;
      case 'plugin':
        return this.#plugins.of(subject.name, clock);
      case 'visitor':
        return this.#networks.of(networkOf(address ?? ''), clock);
      case 'user':
        return (isSuperAdministrator(subject) ? this.#superAdministrators : this.#users).of(subject.name, clock);
    }
  }
}
