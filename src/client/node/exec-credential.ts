import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { isObject } from '../../base/guards.ts';
import type { Clock } from '../../base/clock.ts';

/** A command of a kubeconfig that prints credentials. */
export type ExecCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  /** The working folder of the command: the folder of the kubeconfig. */
  readonly folder: string;
};

const commandMs = 60_000;
const outputBytesMax = 1_048_576;
/** The remaining lifetime of a token at which the next token is fetched. */
const marginMs = 60_000;

type Credential = {
  readonly token: string;
  readonly expiresMs: number;
};

type CachedCredential = {
  readonly credential: Promise<Credential>;
  expiresMs: number;
};

/**
 * Returns a function that resolves with the token that a command prints (`client.authentication.k8s.io`). The token is
 * cached until shortly before its expiry.
 */
export function tokenByCommand(command: ExecCommand, clock: Clock): () => Promise<string> {
  let kept: CachedCredential | undefined;
  return async () => {
    if (kept === undefined || kept.expiresMs - marginMs <= clock.now()) {
      const fresh = { credential: credentialOf(command), expiresMs: Infinity };
      kept = fresh;
      fresh.credential.then(
        ({ expiresMs }) => {
          fresh.expiresMs = expiresMs;
        },
        () => {
          // After a failure, the next request runs the command again.
          if (kept === fresh) kept = undefined;
        },
      );
    }
    return (await kept.credential).token;
  };
}

async function credentialOf({ command, args, env, apiVersion, folder }: ExecCommand): Promise<Credential> {
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
  const run = promisify(execFile)(command, [...args], {
    cwd: folder,
    env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    timeout: commandMs,
    maxBuffer: outputBytesMax,
  });
  const printed = await run.catch((error: unknown) => {
    throw new Error(`the command ${command}, which fetches the credentials, failed: ${reasonOf(error)}`);
  });
  return decodeCredential(command, printed.stdout);
}

/** Returns the reason of a failure. Does not use standard output, which may contain a token. */
function reasonOf(error: unknown): string {
  if (!isObject(error)) return 'for an unknown reason';
  const { stderr, code, killed } = error;
  if (killed === true) return `the command took longer than ${String(commandMs / 1_000)} s`;
  if (typeof stderr === 'string' && stderr.trim() !== '') return stderr.trim().slice(0, 1_000);
  return typeof code === 'number' ? `the command exited with code ${String(code)}` : String(code);
}

function decodeCredential(command: string, text: string): Credential {
  const status = statusIn(text);
  const token = status?.['token'];
  const expires = status?.['expirationTimestamp'];
  if (typeof token !== 'string') throw new Error(`the command ${command} printed no ExecCredential with a token`);
  return { token, expiresMs: typeof expires === 'string' ? timeOf(expires) : Infinity };
}

/**
 * Converts a time to milliseconds since the epoch. An invalid time is treated as past, because the lifetime of the
 * token is then unknown.
 */
function timeOf(text: string): number {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? -Infinity : ms;
}

function statusIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const printed: unknown = JSON.parse(text);
    return isObject(printed) && isObject(printed['status']) ? printed['status'] : undefined;
  } catch {
    return undefined;
  }
}
