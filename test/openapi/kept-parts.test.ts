import { test } from 'tap';

import { atOnce } from '../../src/base/steps.ts';
import { SwaggerProtobuf } from '../../src/http/openapi/swagger-protobuf.ts';
import { apiDocument, groupDocument, swaggerOf } from '../../src/openapi/documents.ts';
import { Encoded } from '../../src/openapi/encoded.ts';
import { KeptParts } from '../../src/openapi/kept-parts.ts';
import { UniqueNames } from '../../src/openapi/names.ts';
import { swaggerText } from '../../src/openapi/swagger-document.ts';
import type { DescribedRoute } from '../../src/openapi/route-operations.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { compileType } from '../../src/resource/type/type-declaration.ts';
import { declaredTypes } from './odd-types.ts';

const domain = 'svc.run';
const json = ['application/json'];
const media = { message: json, object: json, patch: json, answer: json };
const parts = [
  { method: 'GET', pattern: '/version' },
  { method: 'POST', pattern: '/login' },
];
const route: DescribedRoute = {
  plugin: 'odd',
  kind: 'route',
  method: 'POST',
  path: '/apis/odd.example/v1/widgets/{id}',
  parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
  responses: [],
};

function compiled(declaration: object): ResourceType {
  const result = compileType(declaration, { plugin: 'odd', bundled: false, domain });
  if (!result.ok) throw new Error(result.problems.join('; '));
  return result.type;
}

function oddTypes(group: string): readonly ResourceType[] {
  return declaredTypes.map((declared) =>
    compiled({ ...declared, group, version: 'v1', singular: declared.kind.toLowerCase() }),
  );
}

/** Builds documents of every form one after another, with the parts that the builder keeps. */
class Builder {
  readonly #settings = { domain, version: '1.0.0', media, kept: new KeptParts({ domain, media }) };
  readonly #protobuf = new SwaggerProtobuf();

  all(types: readonly ResourceType[], routes: readonly DescribedRoute[] = [route]): readonly string[] {
    const settings = this.#settings;
    const groups = [...new Set(types.map(({ group }) => group))].map((group) =>
      atOnce(
        groupDocument(
          types.filter((type) => type.group === group),
          settings,
        ),
      ),
    );
    const documents = [
      ...groups,
      atOnce(swaggerText(atOnce(swaggerOf(types, settings)), settings.kept)),
      atOnce(this.#protobuf.of(atOnce(swaggerOf(types, settings)))),
      atOnce(apiDocument({ types, platform: parts, routes }, settings)),
    ];
    return documents.map((pieces) => Buffer.concat(pieces).toString('latin1'));
  }
}

test('documents with kept parts equal those that are built from nothing, whichever types come and go', async (t) => {
  const kept = new Builder();
  const [odd, other] = [oddTypes('odd.example'), oddTypes('other.example')];
  const list = compiled({
    group: 'odd.example',
    version: 'v1',
    kind: 'WidgetList',
    singular: 'widgetlist',
    plural: 'widgetlists',
    schema: { type: 'object', properties: { spec: { type: 'object', description: 'No list of widgets.' } } },
  });
  const changed = oddTypes('odd.example');
  // Its ids continue with the same word as those of the other group, and then with a number.
  const alike = oddTypes('other-example');
  const orders = [[...odd, ...other], [...other, ...odd], [...odd, ...other, ...alike], [...odd, ...alike], alike];
  const registries = [odd, ...orders, other, [...odd, list], [list, ...odd], changed, odd];
  for (const types of registries) t.strictSame(kept.all(types), new Builder().all(types));
  t.strictSame(kept.all(odd, []), new Builder().all(odd, []), 'a route has left the path of a type');
  t.strictSame(kept.all(odd), new Builder().all(odd), 'the route is back');
});

test('a name that another type of the document takes is made again, and so is one that is free again', async (t) => {
  const kept = new Builder();
  const [[first], [second]] = [oddTypes('a.example'), oddTypes('b.example')];
  const qualified = /"operationId":"listWidgetBExampleV1"/u;
  const whole = (types: readonly ResourceType[]): string => kept.all(types).at(-1) ?? '';
  t.notMatch(whole([second!]), qualified);
  t.match(whole([first!, second!]), qualified);
  t.notMatch(whole([second!]), qualified);
});

test('a type and its ids have the same operations in every build, and few are kept', async (t) => {
  const { operations } = new KeptParts({ domain, media });
  const [type] = oddTypes('a.example');
  const of = (...taken: readonly string[]): unknown => {
    const ids = new UniqueNames();
    for (const id of taken) ids.take(id, '');
    return operations.of(type!, ids);
  };
  t.equal(of(), of());
  const first = of('listWidget');
  t.equal(of('listWidget'), first);
  of('getWidget');
  t.equal(of('listWidget'), first);
  of('updateWidget');
  t.not(of('listWidget'), first, 'the oldest of three is gone');
});

test('a build after a change of one type encodes the members of no other type', async (t) => {
  const types = oddTypes('odd.example');
  const read: string[] = [];
  /** Notes each time that a schema of the type is written as JSON. */
  const noting = (type: ResourceType): ResourceType => {
    const toJSON = (): object => {
      read.push(type.kind);
      return { type: 'object' };
    };
    const spec = { type: 'object', default: { toJSON } };
    return { ...type, schema: { type: 'object', properties: { spec } } };
  };
  const kept = new Builder();
  const before = types.map(noting);
  kept.all(before);
  t.strictSame(new Set(read), new Set(types.map(({ kind }) => kind)), 'all are written at first');
  read.length = 0;
  kept.all(before);
  t.strictSame(read, [], 'a build without a change writes none');
  const [changed, ...unchanged] = before;
  kept.all([noting(types[0]!), ...unchanged]);
  t.strictSame(new Set(read), new Set([changed!.kind]), 'a build with a changed type writes only its members');
});

test('a part is encoded again under another name, and with another source', async (t) => {
  const encoded = new Encoded((name, value) => `${name}:${String(value)}`);
  const [first, second] = [{}, {}];
  const of = (name: string, sources: readonly object[], value: string): string =>
    encoded.of({ name, sources, value: () => value });
  t.equal(of('a', [first], 'one'), 'a:one');
  t.equal(of('a', [first], 'never read'), 'a:one');
  t.equal(of('b', [first], 'two'), 'b:two');
  t.equal(of('b', [first, second], 'three'), 'b:three');
  t.equal(of('b', [first], 'four'), 'b:four');
  t.equal(of('b', [], 'five'), 'b:five');
});
