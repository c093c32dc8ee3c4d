import { spawn } from 'node:child_process';
import { once } from 'node:events';

import type { Environment } from '../../../config/environment.ts';

export type ShellCommand = {
  /** The program, or the text for the shell. */
  readonly file: string;
  readonly args: readonly string[];
  readonly isShell: boolean;
  readonly folder: string;
};

export type StepResult = {
  readonly isOk: boolean;
  /** Standard output and standard error. */
  readonly printed: string;
};

export type DevStep = {
  readonly ended: Promise<StepResult>;
  /** Ends the command and all processes of its process group. */
  stop(): void;
};

export function runStep({ file, args, isShell, folder }: ShellCommand, variables: Environment): DevStep {
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...variables },
    shell: isShell,
    // The command has its own process group, so that `stop` also ends the programs that a shell has started.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  return {
    ended: once(child, 'close').then(
      ([code]) => ({ isOk: code === 0, printed }),
      (error: unknown) => ({ isOk: false, printed: `${file}: ${error instanceof Error ? error.message : 'failed'}` }),
    ),
    stop: () => {
      endGroup(child.pid);
    },
  };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // The group has ended already.
  }
}
