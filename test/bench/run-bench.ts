import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import type { Result } from '../../bench/result.ts';
import { repository } from '../architecture/repository.ts';

export type BenchRun = {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
};

/** Runs `npm run bench` without the build. */
export async function runBench(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<BenchRun> {
  const child = spawn(process.execPath, [join(repository, 'dist/bench/main.js'), ...args], {
    cwd: repository,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await exited) as [number | null];
  return { code, out, err };
}

/** The figures of a run with `--json`. */
export function figuresOf({ out }: BenchRun): readonly Result[] {
  const lines = out.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Result);
}
