import { test } from 'tap';

import { compileRequest } from '../../../bench/load/template.ts';

const headers = { Host: 'a' };
const places = { n: 1_234, c: 5, k: 6, v: '789' };

test('a request has the values of its places, and the length of its body', (t) => {
  const body = '{"n":{n},"k":{k},"m":{m},"v":"{v}"}';
  const render = compileRequest({ method: 'PUT', path: '/o-{c}', headers, body });
  const sent = '{"n":1234,"k":6,"m":234,"v":"789"}';
  t.equal(
    render(places),
    'PUT /o-5 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${sent.length.toString()}\r\n\r\n${sent}`,
  );
  t.end();
});

test('a request without places is one buffer, and text outside of ASCII is refused', (t) => {
  const render = compileRequest({ method: 'GET', path: '/o', headers });
  t.equal(render(places), render({ ...places, n: 2 }));
  t.equal(render(places).toString(), 'GET /o HTTP/1.1\r\nHost: a\r\n\r\n');
  t.throws(() => compileRequest({ method: 'GET', path: '/ö', headers }), /must be ASCII/u);
  t.end();
});

test('scattered digits differ for consecutive numbers', (t) => {
  const render = compileRequest({ method: 'GET', path: '/{s}', headers });
  const paths = Array.from({ length: 1_000 }, (_, n) => render({ ...places, n }).toString());
  t.equal(new Set(paths).size, paths.length);
  t.end();
});
