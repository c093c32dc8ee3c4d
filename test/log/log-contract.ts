import type { Test } from 'tap';

import type { EventLog } from '../../src/log/log.ts';
import { appendClauses } from './contract-append.ts';
import { backwardClauses } from './contract-backward.ts';
import { readClauses } from './contract-read.ts';
import { seamClauses } from './contract-seam.ts';
import { subscribeClauses } from './contract-subscribe.ts';

export type LogUnderTest = {
  readonly log: EventLog;
  /** Closes the log and opens it again on its files. */
  readonly reopen: () => Promise<EventLog>;
};

/** What sets logs apart without breaking the promises of the port. */
export type LogTraits = {
  /** An event may be read before the answer to its append has come back. */
  readonly isFarAway?: boolean;
};

export type MakeLog = (t: Test) => Promise<LogUnderTest>;

/** Promises of the port by their sentence, each with its proof. */
export type Clauses = Readonly<Record<string, (t: Test, makeLog: MakeLog, traits: LogTraits) => Promise<void>>>;

/** The suite that every adapter passes. */
export const logContract = [appendClauses, readClauses, backwardClauses, subscribeClauses, seamClauses].flatMap(
  (clauses) => Object.entries(clauses),
);
