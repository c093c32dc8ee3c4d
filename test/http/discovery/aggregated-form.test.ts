import fc from 'fast-check';
import { test } from 'tap';

import { parseAccept } from '../../../src/http/body/accept-header.ts';
import { formOf, mediaTypeOf } from '../../../src/http/discovery/aggregated-documents.ts';
import { versionDocument } from '../../../src/http/discovery/version-document.ts';

const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const v2beta1 = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

test('the first range with an answer decides about the form', async (t) => {
  const cases: readonly (readonly [accept: string | undefined, form: string])[] = [
    [undefined, 'plain'],
    ['', 'plain'],
    ['*/*', 'plain'],
    ['application/json', 'plain'],
    ['application/json, */*', 'plain'],
    [v2, 'v2'],
    [v2beta1, 'v2beta1'],
    // kubectl since 1.30, and from 1.27 to 1.29.
    [`${v2},${v2beta1},application/json`, 'v2'],
    [`${v2beta1},application/json`, 'v2beta1'],
    [`${v2beta1},${v2},application/json`, 'v2beta1'],
    [`application/json,${v2}`, 'plain'],
    [`application/json;q=0.5,${v2};q=0.9`, 'v2'],
    [`${v2};q=0.2,${v2beta1};q=0.3,*/*;q=0.1`, 'v2beta1'],
    [`${v2};q=0,application/json`, 'plain'],
    [`${v2};q=0`, 'plain'],
    ['application/json; AS=APIGroupDiscoveryList; V="v2"; G=apidiscovery.k8s.io', 'v2'],
    ['application/json;charset=utf-8', 'plain'],
    [`${v2};charset=utf-8`, 'v2'],
    // Others are skipped, whatever follows.
    [`${table},${v2}`, 'v2'],
    [`${table},application/json,${v2}`, 'plain'],
    ['application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList', 'plain'],
    [`application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,${v2beta1}`, 'v2beta1'],
    ['application/json;g=example.com;v=v2;as=APIGroupDiscoveryList', 'plain'],
    ['application/json;v=v2;as=APIGroupDiscoveryList', 'plain'],
    ['application/json;g=apidiscovery.k8s.io;v=v2;as=apigroupdiscoverylist', 'plain'],
    ['application/json;g=apidiscovery.k8s.io;v=v2', 'plain'],
    [`application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,${v2beta1}`, 'v2beta1'],
    [`application/vnd.kubernetes.protobuf,application/yaml,text/html`, 'plain'],
    ['*/*;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList', 'v2'],
  ];
  for (const [accept, form] of cases) t.equal(formOf(parseAccept(accept)), form, accept ?? 'none');
});

test('every Accept header has a form, and only one with all three parameters is aggregated', async () => {
  const parameter = fc.constantFrom(
    'as=APIGroupDiscoveryList',
    'g=apidiscovery.k8s.io',
    'v=v2',
    'v=v2beta1',
    'v=v1',
    'as=Table',
    'q=0.5',
    'q=0',
    '"',
    'x="a;b,c"',
    '',
  );
  const type = fc.constantFrom('application/json', '*/*', 'application/*', 'text/html', 'json', '');
  const range = fc.tuple(type, fc.array(parameter, { maxLength: 5 })).map(([name, rest]) => [name, ...rest].join(';'));
  fc.assert(
    fc.property(fc.array(fc.oneof(range, fc.string()), { maxLength: 6 }), (ranges) => {
      const accept = ranges.join(',');
      const form = formOf(parseAccept(accept));
      if (form === 'plain') return true;
      return ['as=APIGroupDiscoveryList', 'g=apidiscovery.k8s.io', `v=${form}`].every((each) => accept.includes(each));
    }),
  );
});

test('the media type of an answer is exactly the one that Go clients compare it to', async (t) => {
  t.equal(mediaTypeOf('v2'), v2);
  t.equal(mediaTypeOf('v2beta1'), v2beta1);
  t.equal(mediaTypeOf('plain'), 'application/json');
});

test('the version of the platform is the build metadata of the release of Kubernetes', async (t) => {
  t.match(versionDocument('0.1.0', 'svc.run'), {
    major: '1',
    minor: '35',
    gitVersion: 'v1.35.0+ledgerplane.0.1.0',
    name: 'ledgerplane',
    version: '0.1.0',
  });
  t.equal(versionDocument('1.0.0-rc.1+abc', 'svc.run')['gitVersion'], 'v1.35.0+ledgerplane.1.0.0-rc.1.abc');
});
