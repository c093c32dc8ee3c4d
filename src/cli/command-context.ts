import type { Readable } from 'node:stream';

import type { Clock } from '../base/clock.ts';
import type { Environment } from '../config/environment.ts';

/** The parts of the process that a command uses. */
export type CommandContext = {
  readonly input: SecretInput;
  /** Standard output. Commands write only results here, so that scripts can use the output directly. */
  readonly output: TextSink;
  /** Standard error: prompts, notes and errors. */
  readonly stderr: TextSink;
  readonly variables: Environment;
  /** The working folder, which may contain `.env`. Relative paths refer to this folder. */
  readonly folder: string;
  /** A clock with timers that keep the process alive. */
  readonly clock: Clock;
  /** The command line that runs this program, with absolute paths and without arguments for the program. */
  readonly program: readonly string[];
};

/** Standard input. On a terminal, `setRawMode` disables the echo. */
export type SecretInput = Readable & {
  readonly isTTY?: boolean;
  setRawMode?(on: boolean): unknown;
};

export type TextSink = {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
};
