import { test } from 'tap';

import { startTestServer } from '../support/server/start-server.ts';

test("the super administrator reads the node's metrics as Prometheus does; others cannot", async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  t.equal((await fetch(`${server.url}/metrics`)).status, 401);
  await server.call('/apis/example.com/v1alpha1/widgets', {
    method: 'POST',
    body: { metadata: { name: 'w1' }, spec: { title: 'One' } },
  });

  const answer = await server.call('/metrics');
  t.equal(answer.status, 200);
  t.match(answer.headers.get('content-type'), /^text\/plain; version=0\.0\.4/u);
  const text = await answer.text();
  t.match(text, /^ledgerplane_http_responses_total\{code="401"\} 1$/mu);
  t.match(text, /^ledgerplane_http_responses_total\{code="201"\} 1$/mu);
  t.match(text, /^ledgerplane_objects\{type="widgets\.example\.com"\} 1$/mu);
  t.match(text, /^ledgerplane_ready 1$/mu);
  t.match(text, /^ledgerplane_leader 1$/mu);
  t.match(text, /^ledgerplane_log_reachable 1$/mu);
  t.match(text, /^ledgerplane_watchers 0$/mu);
  t.match(text, /^ledgerplane_stream_buffer_bytes 0$/mu);
  t.match(text, /^ledgerplane_position [1-9]\d*$/mu);
  t.match(text, /^process_resident_memory_bytes /mu);
});
