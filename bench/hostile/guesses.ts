import { Agent, request } from 'node:http';

import type { Bench } from '../bench.ts';
import type { Result } from '../result.ts';
import { adminPassword } from '../subject/server.ts';
import { unlogged } from './unlogged.ts';

const guessers = 200;
const honestAddress = '127.0.0.9';

/** Measures a correct log-in while another address makes many concurrent log-in attempts with different names. */
export async function guesses(bench: Bench): Promise<readonly Result[]> {
  return bench.withSubject(
    bench.newDataDir(),
    async ({ url }) => {
      const alone = await timeLogIn(url);
      const agent = new Agent({ keepAlive: true, maxSockets: guessers });
      let guessed = 0;
      let ended = false;
      const guess = async (): Promise<void> => {
        while (!ended) {
          guessed += 1;
          const body = { username: `nobody-${String(guessed)}`, password: 'a wrong guess' };
          // The server may close the connection of a guessing client.
          await logIn(url, body, { agent }).catch(() => undefined);
        }
      };
      const running = Array.from({ length: guessers }, guess);
      const took: number[] = [];
      for (let round = 0; round < bench.rounds; round += 1) took.push(await timeLogIn(url));
      ended = true;
      await Promise.all(running);
      agent.destroy();
      const value = Math.max(...took);
      const measure = `slowest correct log-in beside ${String(guessers)} guessing clients`;
      return [
        {
          measure,
          value,
          unit: 's',
          floor: 2,
          bound: 'value at most',
          note: `alone ${alone.toFixed(2)} s; ${String(guessed)} guesses`,
        },
      ];
    },
    unlogged,
  );
}

async function timeLogIn(url: string): Promise<number> {
  const began = performance.now();
  const status = await logIn(url, { username: 'admin', password: adminPassword }, { localAddress: honestAddress });
  if (status !== 200) throw new Error(`a correct log-in returned the status ${String(status)}`);
  return (performance.now() - began) / 1_000;
}

async function logIn(url: string, body: object, options: { agent?: Agent; localAddress?: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    request(
      `${url}/login`,
      { method: 'POST', headers: { 'Content-Type': 'application/json' }, ...options },
      (response) => {
        response
          .on('end', () => {
            resolve(response.statusCode ?? 0);
          })
          .on('error', reject)
          .resume();
      },
    )
      .on('error', reject)
      .end(JSON.stringify(body));
  });
}
