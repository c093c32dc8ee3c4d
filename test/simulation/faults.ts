import type { Random } from './random.ts';

/** What becomes of one append on its way. */
export const appendFates = ['lost', 'unacknowledged', 'late', 'duplicated', 'falselyConflicting'] as const;
export type AppendFate = (typeof appendFates)[number];

/** How long a message travels: up to `usual` ms, but with `tailChance` up to `tail` ms. */
export type Latency = { readonly usual: number; readonly tailChance: number; readonly tail: number };

/** How old what a stale read answers may be, in ms. */
export const staleMsMax = 500;

export const incidents = [
  'crash',
  'pause',
  'longPause',
  'outage',
  'rejection',
  'stall',
  'jump',
  'leaders',
  'election',
  'scavenge',
] as const;
export type Incident = (typeof incidents)[number];

/**
 * What goes wrong in a run, drawn from its seed. Each kind is absent in most runs and frequent in some: faults that
 * always come together hide what one of them alone would show.
 */
export type Faults = {
  readonly appends: Readonly<Record<AppendFate, number>>;
  /** Writes are about few values and often move them; appends that would hold one are often late. */
  readonly contended: boolean;
  /** Writers of one object want one value for it, one of them on a node that is behind. */
  readonly duels: boolean;
  /** After an append that will be late, its node dies. */
  readonly crashAfterLate: number;
  /** At each call of the log: the node dies just before it leaves, or just after its answer. */
  readonly crashAtCall: number;
  readonly readFails: number;
  /** A claim or a lease is read as it was a moment ago. */
  readonly staleReads: number;
  /** The same of an object. */
  readonly staleObjectReads: number;
  /** At each delivery: an append of an object is left out. */
  readonly gaps: number;
  /** At each delivery to the audit indexes: an event of any stream is left out. */
  readonly auditGaps: number;
  /** At each delivery of a server: the subscription is dropped, or delivers some events again. */
  readonly drops: number;
  readonly calls: Latency;
  readonly feed: Latency;
  /** How many times in a minute. */
  readonly incidents: Readonly<Record<Incident, number>>;
  /** So small that some deletions take two appends; undefined: as it is. */
  readonly appendBytesMax: number | undefined;
  /** The greatest difference between a node's clock and the true time. */
  readonly skewMs: number;
};

export const noFaults: Faults = {
  appends: { lost: 0, unacknowledged: 0, late: 0, duplicated: 0, falselyConflicting: 0 },
  contended: false,
  duels: false,
  crashAfterLate: 0,
  crashAtCall: 0,
  readFails: 0,
  staleReads: 0,
  staleObjectReads: 0,
  gaps: 0,
  auditGaps: 0,
  drops: 0,
  calls: { usual: 2, tailChance: 0, tail: 0 },
  feed: { usual: 3, tailChance: 0, tail: 0 },
  incidents: {
    crash: 0,
    pause: 0,
    longPause: 0,
    outage: 0,
    rejection: 0,
    stall: 0,
    jump: 0,
    leaders: 0,
    election: 0,
    scavenge: 0,
  },
  appendBytesMax: undefined,
  skewMs: 0,
};

export function drawFaults(random: Random): Faults {
  const faults = drawn(random);
  return random.chance(0.08) ? { ...faults, contended: true, duels: true, crashAfterLate: 0.8 } : faults;
}

function drawn(random: Random): Faults {
  const some = (least: number, most: number, often = 0.35): number =>
    random.chance(often) ? least + random.next() * (most - least) : 0;
  return {
    appends: {
      lost: some(0.02, 0.25),
      unacknowledged: some(0.02, 0.3),
      late: some(0.03, 0.3),
      duplicated: some(0.02, 0.3),
      falselyConflicting: some(0.02, 0.2),
    },
    contended: random.chance(0.4),
    duels: false,
    crashAfterLate: some(0.3, 0.9, 0.7),
    crashAtCall: some(0.002, 0.02, 0.25),
    readFails: some(0.005, 0.05, 0.25),
    staleReads: some(0.05, 0.4),
    staleObjectReads: some(0.05, 0.4, 0.25),
    gaps: some(0.3, 0.9, 0.15),
    auditGaps: some(0.005, 0.05, 0.15),
    drops: some(0.01, 0.15, 0.5),
    calls: latency(random, 1),
    feed: latency(random, 3),
    incidents: {
      crash: some(4, 40),
      pause: some(4, 30),
      longPause: some(1, 4, 0.06),
      outage: some(3, 15, 0.25),
      rejection: some(5, 40, 0.3),
      stall: some(5, 40),
      jump: some(3, 20, 0.3),
      leaders: some(3, 20, 0.4),
      election: some(5, 60, 0.5),
      scavenge: some(5, 40, 0.5),
    },
    appendBytesMax: random.chance(0.25) ? random.between(900, 1_300) : undefined,
    skewMs: some(10, 5_000, 0.4),
  };
}

function latency(random: Random, scale: number): Latency {
  const usual = random.pick([1, 3, 10, 40]) * scale;
  return random.chance(0.5)
    ? { usual, tailChance: 0, tail: 0 }
    : { usual, tailChance: 0.02 + random.next() * 0.1, tail: random.pick([100, 700, 3_500]) };
}

export function travelMs(random: Random, { usual, tailChance, tail }: Latency): number {
  return random.chance(tailChance) ? random.between(usual, tail) : random.below(usual + 1);
}
