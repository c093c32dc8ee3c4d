import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { test, type Test } from 'tap';

import { pluginPackageRoutes } from '../../../src/http/platform/plugin-package-routes.ts';
import {
  uploadLookBytesMin,
  uploadLookMs,
  uploadsMax,
  uploadSlowLooksMax,
} from '../../../src/http/plugin-routes/route-limits.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { widgets } from '../../support/sample.ts';
import { startEdge } from '../edge-server.ts';

const path = '/apis/api.console.svc.run/v1alpha1/plugins/install';
const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="p.tgz"\r\n\r\n';
const tail = '\r\n--b--\r\n';

/** The routes alone, on a clock that goes when the test says so: what arrives whole is "installed" by its length. */
async function edge(t: Test) {
  const clock = new FakeClock();
  const accepted: number[] = [];
  const install = (archive: Uint8Array) => {
    accepted.push(archive.length);
    return Promise.resolve({ ok: true as const, name: 'p', plugin: { bytes: Buffer.from('{}'), revision: 0 } });
  };
  const platformRoutes = pluginPackageRoutes({
    domain: 'svc.run',
    pluginType: () => widgets,
    clock,
    installsMax: 2,
    archiveBytesMax: 1_000_000,
    unready: () => undefined,
    noRoom: () => undefined,
    installer: { install, upgrade: (_name, archive) => install(archive) },
  });
  const server = await startEdge({ clock, platformRoutes });
  t.teardown(server.stop);
  const upload = (): Upload => {
    const req = request(`${server.url}${path}`, {
      method: 'POST',
      agent: false,
      headers: { authorization: 'admin', 'content-type': 'multipart/form-data; boundary=b' },
    });
    const answer = once(req, 'response').then(([res]: IncomingMessage[]) => res);
    answer.catch(() => undefined);
    return { req, answer };
  };
  return { clock, accepted, upload, server };
}

type Upload = { readonly req: ClientRequest; readonly answer: Promise<IncomingMessage | undefined> };

async function sent({ req }: Upload, text: string): Promise<void> {
  await new Promise<void>((resolve) => {
    req.write(text, () => {
      resolve();
    });
  });
}

/** Until the server has set as many timers: it then reads as many uploads. */
async function reading(clock: FakeClock, count: number): Promise<void> {
  while (clock.timers < count) await nextTurn();
}

async function read(clock: FakeClock, upload: Upload, bytes: number): Promise<void> {
  await sent(upload, 'x'.repeat(bytes));
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  clock.advance(uploadLookMs);
}

test('stalled uploads block no install, and are disconnected', async (t) => {
  const { clock, accepted, upload } = await edge(t);
  const stalledOnes = Array.from({ length: 3 }, upload);
  for (const one of stalledOnes) await sent(one, `${head}abc`);
  await reading(clock, 3);
  const whole = upload();
  whole.req.end(`${head}whole${tail}`);
  t.equal((await whole.answer)?.statusCode, 201, 'three stalled ones are none that is taken in');
  t.same(accepted, [5]);

  for (let look = 0; look < uploadSlowLooksMax; look += 1) clock.advance(uploadLookMs);
  for (const { answer } of stalledOnes) {
    const response = await answer;
    t.match([response?.statusCode, response?.headers.connection], [408, 'close']);
    response?.resume();
  }
  t.equal(clock.timers, 0);
});

test('uploads in progress are bounded, and a disconnect frees a slot', async (t) => {
  const { clock, upload } = await edge(t);
  const all = Array.from({ length: uploadsMax }, upload);
  for (const one of all) await sent(one, head);
  await reading(clock, uploadsMax);
  const more = upload();
  more.req.end(`${head}more${tail}`);
  const refused = await more.answer;
  t.match([refused?.statusCode, refused?.headers['retry-after']], [429, '2']);
  clock.advance(uploadLookMs * uploadSlowLooksMax);
  await Promise.all(all.map(async ({ answer }) => answer));
  const next = upload();
  next.req.end(`${head}next${tail}`);
  t.equal((await next.answer)?.statusCode, 201);
});

test('a slow steady upload is accepted, a trickling one is not', async (t) => {
  const { clock, accepted, upload } = await edge(t);
  const slow = upload();
  await sent(slow, head);
  await reading(clock, 1);
  for (let look = 0; look < 10; look += 1) await read(clock, slow, look % 2 === 0 ? uploadLookBytesMin : 1);
  slow.req.end(tail);
  t.equal((await slow.answer)?.statusCode, 201, 'one slow look among others is no stall');
  t.same(accepted, [5 * uploadLookBytesMin + 5]);

  const trickling = upload();
  await sent(trickling, head);
  await reading(clock, 1);
  for (let look = 0; look <= uploadSlowLooksMax; look += 1) await read(clock, trickling, 1);
  t.equal((await trickling.answer)?.statusCode, 408);
});
