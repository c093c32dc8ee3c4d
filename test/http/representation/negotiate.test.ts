import fc from 'fast-check';
import { test } from 'tap';

import { negotiate, plainObjects, type Negotiated } from '../../../src/http/representation/negotiate.ts';

const table = (version: string) => `application/json;as=Table;v=${version};g=meta.k8s.io`;
const partial = (type: string, kind: string) => `${type};as=${kind};g=meta.k8s.io;v=v1`;

function formOf(accept: string | undefined, query = ''): Negotiated | string {
  const negotiated = negotiate(accept, new URLSearchParams(query));
  return negotiated.ok ? negotiated.value : negotiated.problem.detail;
}

const kubectl = `${table('v1')},${table('v1beta1')},application/json`;

test('what clients send', async (t) => {
  t.match(formOf(kubectl), { shape: 'table', version: 'v1', include: 'Metadata' });
  t.match(formOf(`${table('v1beta1')},application/json`), { shape: 'table', version: 'v1beta1' });
  t.match(formOf(kubectl, 'includeObject=Object'), { shape: 'table', include: 'Object' });
  t.match(formOf(kubectl, 'includeObject=None'), { shape: 'table', include: 'None' });
  for (const kind of ['PartialObjectMetadata', 'PartialObjectMetadataList'])
    t.match(
      formOf(
        `${partial('application/vnd.kubernetes.protobuf', kind)},${partial('application/json', kind)},application/json`,
      ),
      { shape: 'metadata', version: 'v1' },
    );
  for (const accept of [
    undefined,
    '',
    '*/*',
    'application/json',
    'application/json, */*;q=0.8',
    'application/vnd.kubernetes.protobuf, */*',
    'application/cbor',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  ])
    t.strictSame(formOf(accept), plainObjects, accept ?? 'no header');
});

test('the preferred range that can be served counts', async (t) => {
  t.match(formOf(`application/json;q=0.5,${table('v1')}`), { shape: 'table' });
  t.match(formOf(`application/json,${table('v1')}`), { shape: 'object' });
  t.match(formOf(`*/*;as=Table;v=v1;g=meta.k8s.io`), { shape: 'table' });
  for (const unknown of [
    table('v2'),
    'application/json;as=Table;v=v1;g=example.com',
    'application/json;as=Table',
    'application/json;as=table;v=v1;g=meta.k8s.io',
    'application/json;as=Chair;v=v1;g=meta.k8s.io',
    'text/html;as=Table;v=v1;g=meta.k8s.io',
    `${table('v1')};q=0`,
  ]) {
    t.strictSame(formOf(unknown), plainObjects, unknown);
    t.match(formOf(`${unknown}, ${table('v1beta1')};q=0.1`), { shape: 'table', version: 'v1beta1' }, unknown);
  }
});

test('includeObject is read for tables only, and refused if it is unknown', async (t) => {
  t.match(formOf(kubectl, 'includeObject=metadata'), 'includeObject: must be None, Metadata or Object, is "metadata"');
  t.strictSame(formOf('application/json', 'includeObject=metadata'), plainObjects);
  t.match(formOf(kubectl, 'includeObject='), { shape: 'table', include: 'Metadata' });
});

test('any text is some form', async () => {
  const part = fc.constantFrom(
    'as=',
    'Table',
    ';',
    ',',
    '"',
    '\\',
    'g=meta.k8s.io',
    'v=v1',
    'application/json',
    '*',
    ' ',
    'q=',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(part, fc.string({ maxLength: 3 }))).map((parts) => parts.join('')),
  );
  fc.assert(fc.property(text, (accept) => negotiate(accept, new URLSearchParams()).ok));
});
