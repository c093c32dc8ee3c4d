import type { Readable } from 'node:stream';

import type { Clock } from '../base/clock.ts';
import type { Environment } from '../config/environment.ts';

/** All that a command sees of the process that it runs in. */
export type Surroundings = {
  readonly input: SecretInput;
  /** Standard output: answers, and nothing else, so that a script can take them as they are. */
  readonly output: TextSink;
  /** Standard error: questions, notes and mistakes. */
  readonly notes: TextSink;
  readonly variables: Environment;
  /** Where `.env` is looked for, and what relative paths start from. */
  readonly folder: string;
  readonly clock: Clock;
};

/** Standard input; on a terminal it can be told not to echo. */
export type SecretInput = Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown };

export type TextSink = { write(text: string): unknown };
