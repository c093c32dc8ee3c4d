import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '../base/start-error.ts';

/** Linux bounds a socket's path at 107 bytes; a longer DATA_DIR locks through a name derived from it. */
const socketPathBytesMax = 100;

/**
 * Takes DATA_DIR for this process: one server a directory (decision 11.2). The lock is a listening socket, which the kernel
 * closes however the process ends, so a killed server never leaves it locked. Where there are abstract sockets one of those
 * is taken first: it leaves no file, so of servers that start at the same moment one alone goes on to look at the file of
 * a dead one. The file also tells a server in another network namespace.
 */
export async function takeDataDir(dir: string): Promise<{ release(): Promise<void> }> {
  makePrivate(dir);
  const taken: Server[] = [];
  const release = async (): Promise<void> => { await Promise.all(taken.splice(0).map(closed)); };
  const path = socketPath(dir);
  const locks = process.platform === 'linux' ? [`\0ledgerplane-${digest(realpathSync(dir))}`, path] : [path];
  for (const lock of locks) {
    const server = await listen(lock) ?? (lock === path ? await takeOver(path) : undefined);
    if (server === undefined) {
      await release();
      throw new StartError(`another server is running on DATA_DIR ${dir}`, { exitCode: 2 });
    }
    // Not unreferenced: who has the folder stays, even while it waits for nothing but a plugin that never answers.
    taken.push(server);
  }
  return { release };
}

/** A folder that only its owner can look into, also when somebody made it with other rights: it holds password hashes. */
export function privateDir(dir: string): string {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    chmodSync(dir, 0o700);
  } catch (cause) {
    throw new StartError(`${dir} cannot be created as a directory: ${messageOf(cause)}`, { exitCode: 2, cause });
  }
  return dir;
}

function makePrivate(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new StartError(`DATA_DIR ${dir} cannot be created: ${messageOf(cause)}`, { exitCode: 2, cause });
  }
}

async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => { server.close(() => { resolve(); }); });
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function socketPath(dir: string): string {
  const own = join(realpathSync(dir), 'lock.sock');
  if (Buffer.byteLength(own) <= socketPathBytesMax) return own;
  return join(tmpdir(), `ledgerplane-${digest(own)}.sock`);
}

/** A socket's file outlives a killed process: if nobody answers on it, it is nobody's. */
async function takeOver(path: string): Promise<Server | undefined> {
  if (await isAnswered(path)) return undefined;
  rmSync(path, { force: true });
  return listen(path);
}

/** undefined when the path is taken. */
async function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => { socket.destroy(); });
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(new StartError(`DATA_DIR cannot be locked at ${path}: ${error.message}`, { exitCode: 2, cause: error }));
    });
    server.listen(path, () => {
      // Who looks whether the folder is taken finds a process without a free descriptor, too.
      server.on('error', () => undefined);
      if (!path.startsWith('\0')) chmodSync(path, 0o600);
      resolve(server);
    });
  });
}

async function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => { resolve(false); });
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
