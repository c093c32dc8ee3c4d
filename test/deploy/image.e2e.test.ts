/**
 * What the Dockerfile's stages do, done without Docker: the same files are copied, built and run. `npm ci` needs a
 * registry, so its outcome is taken from the packages installed here: all of them to build, without those of
 * development to run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  constants,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { test, type Test } from 'tap';

import { must } from '../../src/base/unreachable.ts';
import { repository } from '../architecture/repository.ts';
import { startEventStore } from '../support/eventstore/eventstore.ts';
import { copiesOf, stages, type Stage } from './dockerfile.ts';

/** Somebody without rights, where the tests run as root; itself otherwise. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Node without the options with which the test runner instruments every child it sees. */
const plainNode = ['-c', 'unset NODE_OPTIONS; exec "$0" "$@"'];

/** A Node that `user` may execute: the one that runs the tests may be in a folder that only root can enter. */
async function copyNode(folder: string): Promise<string> {
  const copy = join(folder, 'node');
  await copyFile(process.execPath, copy, constants.COPYFILE_FICLONE);
  await chmod(copy, 0o555);
  return copy;
}

async function run(
  node: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<number | null> {
  const child = spawn('/bin/sh', [...plainNode, node, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    ...user,
    cwd: options.cwd,
    env: { PATH: process.env['PATH'], ...options.env },
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

/** COPY of one stage into `app`, from the repository or from another stage's folder. */
async function copyInto(app: string, stage: Stage, built?: string): Promise<void> {
  for (const { from, sources, target } of copiesOf(stage)) {
    for (const source of sources) {
      const path =
        from === undefined
          ? join(repository, source)
          : join(must(built, 'it was built'), source.replace(/^\/app\//u, ''));
      const isFolder = target !== './' && (await stat(path)).isDirectory();
      await cp(path, isFolder ? join(app, target) : join(app, source), { recursive: true, preserveTimestamps: true });
    }
  }
}

/** As `npm ci --omit=dev` would leave them. */
async function copyPackages(app: string): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(repository, 'node_modules', '.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  for (const [path, { dev }] of Object.entries(packages)) {
    if (dev === true) continue;
    await mkdir(dirname(join(app, path)), { recursive: true });
    await cp(join(repository, path), join(app, path), {
      recursive: true,
      filter: (file) => !file.slice(join(repository, path).length).includes('node_modules'),
    });
  }
}

async function makeReadOnly(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makeReadOnly(path);
    else if (entry.isFile()) await chmod(path, 0o444);
  }
  await chmod(folder, 0o555);
}

type Started = {
  readonly ready: string;
  readonly port: string;
  readonly stop: () => Promise<number | null>;
  readonly errors: () => string;
};

/**
 * ENTRYPOINT and CMD, with the ENV of the image but for the folder and the port, which are not the image's own here.
 */
async function startImage(t: Test, node: string, app: string, env: Readonly<Record<string, string>>): Promise<Started> {
  const child = spawn('/bin/sh', [...plainNode, node, join(app, 'dist/src/main.js'), 'serve'], {
    cwd: app,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PASSWORD: 'for the rehearsal',
      LOG_LEVEL: 'warn',
      ...env,
    },
  });
  t.teardown(() => {
    child.kill('SIGKILL');
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const line = await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data') as Promise<[string]>,
    closed.then(() => {
      throw new Error(`it ended: ${errors}`);
    }),
  ]);
  const ready = line[0];
  return {
    ready,
    port: /:(\d+) /u.exec(ready)?.[1] ?? '',
    errors: () => errors,
    stop: async () => {
      child.kill('SIGTERM');
      return (await closed)[0];
    },
  };
}

test('the image, rehearsed: built from the copied files, run without privileges from a read-only folder', async (t) => {
  t.comment(
    'npm ci is not run: the packages are those installed here, without the ones of development for the stage ' +
      'that runs',
  );
  const [build, runtime] = await stages();
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-image-'));
  await chmod(folder, 0o755);
  const [built, app, data] = ['build', 'app', 'data'].map((name) => join(folder, name)) as [string, string, string];
  for (const path of [built, app, data]) await mkdir(path, { recursive: true });
  await chmod(data, 0o700);
  if (user.uid !== undefined) await chown(data, user.uid, user.gid);
  t.teardown(async () => {
    await makeWritable(folder);
    await rm(folder, { recursive: true, force: true });
  });

  await copyInto(built, must(build, 'build'));
  await symlink(join(repository, 'node_modules'), join(built, 'node_modules'));
  const builder = spawn(process.execPath, ['scripts/prepare.mjs'], {
    cwd: built,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'] },
  });
  t.same(await once(builder, 'close'), [0, null], 'the copied files suffice to build');
  await copyInto(app, must(runtime, 'runtime'), built);
  await copyPackages(app);
  await makeReadOnly(app);
  const node = await copyNode(folder);

  const health = JSON.parse(
    /CMD (\[.*\])$/u.exec(
      must(
        runtime?.instructions.find(({ name }) => name === 'HEALTHCHECK'),
        'it has one',
      ).text,
    )?.[1] ?? '[]',
  ) as string[];
  const embedded = await startImage(t, node, app, { DATA_DIR: data });
  t.match(embedded.ready, /^ledgerplane ready on http:\/\/127\.0\.0\.1:\d+ \(embedded log, /u);
  t.equal(await run(node, health.slice(1), { cwd: app, env: { PORT: embedded.port } }), 0, 'the health check says so');
  t.equal(await embedded.stop(), 0, `SIGTERM ends it in order: ${embedded.errors()}`);
  t.equal(await run(node, health.slice(1), { cwd: app, env: { PORT: embedded.port } }), 1, 'and that it is gone');
  t.equal(
    await run(node, [join(app, 'dist/src/main.js'), 'log', 'info'], { cwd: app, env: { DATA_DIR: data } }),
    0,
    'commands run there, too',
  );

  const store = await startEventStore();
  t.teardown(async () => store.stop());
  const other = join(data, 'other');
  const far = await startImage(t, node, app, { DATA_DIR: other, EVENT_LOG: store.url });
  t.match(far.ready, /\(EventStoreDB, /u, 'the driver is among the packages');
  t.equal(await far.stop(), 0, far.errors());
});

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o755).catch(() => undefined);
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
  }
}
