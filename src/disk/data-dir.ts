import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../base/error-message.ts';
import { StartError } from '../base/start-error.ts';

/**
 * The maximum length of the socket's path in DATA_DIR; Linux allows 107 bytes. For a longer path, the socket is in the
 * folder for temporary files.
 */
const socketPathBytesMax = 100;

/**
 * Locks DATA_DIR for this process, a server or a command (decision 11.2). The lock is a listening socket, which the
 * kernel closes when the process ends.
 *
 * On Linux, the process first listens on an abstract socket, which has no file. If several servers start
 * simultaneously, only one of them gets this socket and may replace the socket file of a dead server. The socket file
 * also protects against a server in another network namespace, where the abstract socket is not visible.
 *
 * @throws StartError if another process has the lock, or if the lock cannot be created.
 */
export async function takeDataDir(dir: string): Promise<{ release(): Promise<void> }> {
  makePrivate(dir);
  const servers: Server[] = [];
  const release = async (): Promise<void> => {
    await Promise.all(servers.splice(0).map(closed));
  };
  const path = socketPath(dir);
  const locks = process.platform === 'linux' ? [`\0ledgerplane-${digest(realpathSync(dir))}`, path] : [path];
  for (const lock of locks) {
    const server = (await listen(lock)) ?? (lock === path ? await takeOver(path) : undefined);
    if (server === undefined) {
      await release();
      throw new StartError(
        `another server is running on DATA_DIR ${dir}, or a ledgerplane command is using this folder`,
        { exitCode: 2 },
      );
    }
    // The socket stays referenced. The process thus stays alive, and the folder locked, while a stopping server waits
    // for a plugin that does not respond.
    servers.push(server);
  }
  return { release };
}

/** Creates a folder that only its owner can read, or restricts an existing folder. */
export function privateDir(dir: string): string {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    chmodSync(dir, 0o700);
  } catch (cause) {
    throw new StartError(`${dir} cannot be created with mode 0700: ${messageOf(cause)}`, { exitCode: 2, cause });
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
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function socketPath(dir: string): string {
  const own = join(realpathSync(dir), 'lock.sock');
  if (Buffer.byteLength(own) <= socketPathBytesMax) return own;
  return join(tmpdir(), `ledgerplane-${digest(own)}.sock`);
}

/**
 * Replaces an unused socket file and listens on the path. The file outlives a killed process, so a file without a
 * listener is unused. Returns undefined if another process listens on the path.
 */
async function takeOver(path: string): Promise<Server | undefined> {
  if (await isAnswered(path)) return undefined;
  rmSync(path, { force: true });
  return listen(path);
}

/** Listens on the path; returns undefined if the path is in use. */
async function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.destroy();
    });
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else
        reject(new StartError(`DATA_DIR cannot be locked at ${path}: ${error.message}`, { exitCode: 2, cause: error }));
    });
    server.listen(path, () => {
      // Errors have no effect: other servers connect only to check the lock, and their connection succeeds even if this
      // process has no free file descriptor.
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
    socket.once('error', () => {
      resolve(false);
    });
  });
}
