import type { Test } from 'tap';

import { runCommandLine, type CommandLine } from '../support/server/command-line.ts';

/** A whole number from 0 to below the bound, drawn from a seed. */
export type Drawing = (bound: number) => number;

export function drawing(seed: number): Drawing {
  let state = seed;
  return (bound) => (state = (state * 48_271) % 2_147_483_647) % bound;
}

/** Resolves once standard error shows the line, or the command has ended. */
async function says(command: CommandLine, line: RegExp): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (line.test(command.stderr())) resolve();
    };
    command.child.stderr?.on('data', look);
    command.child.once('close', () => {
      resolve();
    });
    look();
  });
}

/**
 * Kills copies until `kills` of them were killed, at moments drawn from the time that this machine takes for a whole
 * copy: a copy that ends before its moment is a complete one, and the next begins with another target.
 *
 * @returns the arguments of the last copy: each call with them resumes it.
 */
export async function killCopies(
  t: Test,
  {
    kills,
    drawn,
    cwd,
    freshCopy,
  }: {
    readonly kills: number;
    readonly drawn: Drawing;
    readonly cwd: string;
    /** The arguments of a copy into another empty target. */
    readonly freshCopy: () => Promise<readonly string[]>;
  },
): Promise<readonly string[]> {
  const wholeMs = await timedCopy(t, await freshCopy(), cwd);
  let args = await freshCopy();
  for (let killed = 0; killed < kills;) {
    const inFlight = ['--in-flight', String(1 + drawn(300))];
    const command = runCommandLine([...args, ...inFlight], { cwd });
    await says(command, sourceIsRead);
    const timer = setTimeout(() => command.child.kill('SIGKILL'), (wholeMs * drawn(1_000)) / 1_000);
    const code = await command.exited();
    clearTimeout(timer);
    if (code === 'SIGKILL') {
      killed += 1;
      continue;
    }
    t.equal(code, 0, command.stderr());
    args = await freshCopy();
  }
  return args;
}

/** Nothing is written before. */
const sourceIsRead = /reading the source: [\d,]+ events in/u;

/** The milliseconds from the first write to the end. */
async function timedCopy(t: Test, args: readonly string[], cwd: string): Promise<number> {
  const command = runCommandLine(args, { cwd });
  await says(command, sourceIsRead);
  const begun = performance.now();
  t.equal(await command.exited(), 0, command.stderr());
  return performance.now() - begun;
}
