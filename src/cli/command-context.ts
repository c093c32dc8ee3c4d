import type { Readable } from 'node:stream';

import type { Clock } from '../base/clock.ts';
import type { Environment } from '../config/environment.ts';

/** The parts of the process that a command uses. */
export type CommandContext = {
  readonly input: SecretInput;
  /** Standard output: results only, so that scripts can use them directly. */
  readonly output: TextSink;
  /** Standard error: prompts, notes and errors. */
  readonly stderr: TextSink;
  readonly variables: Environment;
  /** The folder of `.env`, and the base of relative paths. */
  readonly folder: string;
  /** Its timers keep the process alive. */
  readonly clock: Clock;
  /** The command line that runs this program, with absolute paths and without arguments for it. */
  readonly program: readonly string[];
};

/** Standard input; a terminal can switch its echo off. */
export type SecretInput = Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown };

export type TextSink = { readonly isTTY?: boolean | undefined; write(text: string): unknown };
