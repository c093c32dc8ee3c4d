import { test } from 'tap';
import { parse } from 'yaml';

import { definitionOf, measuredObject } from '../../bench/against/measured-object.ts';
import { decodeResourcePath } from '../../bench/against/served-resource.ts';
import { widget } from '../../plugins/example/widget.ts';

type Bounds = { readonly type?: string; readonly maxLength?: number; readonly maximum?: number; maxItems?: number };
type Definition = {
  readonly metadata: object;
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: object;
    readonly versions: readonly [
      {
        readonly name: string;
        readonly schema: {
          readonly openAPIV3Schema: {
            readonly properties: { readonly spec: { readonly properties: Readonly<Record<string, Bounds>> } };
          };
        };
      },
    ];
  };
};

function definition(path: string): Definition {
  return parse(definitionOf(decodeResourcePath(path))) as Definition;
}

test('the definition declares the resource of the path', (t) => {
  const { metadata, spec } = definition('/apis/bench.example/v1/things');
  t.strictSame(metadata, { name: 'things.bench.example' });
  t.strictSame(spec.names, { kind: 'Widget', listKind: 'WidgetList', plural: 'things', singular: 'widget' });
  t.strictSame([spec.group, spec.scope, spec.versions[0].name], ['bench.example', 'Cluster', 'v1']);
  t.equal(definition('/apis/bench.example/v1/namespaces/default/things').spec.scope, 'Namespaced');
  t.end();
});

test('the definition has the bounds of the type that this server is measured with', (t) => {
  const { properties } = definition('/apis/example.com/v1/things').spec.versions[0].schema.openAPIV3Schema;
  const schema = widget.schema as unknown as { properties: { spec: { properties: Record<string, Bounds> } } };
  const own = schema.properties.spec.properties;
  for (const [name, { type, maxLength, maximum, maxItems }] of Object.entries(properties.spec.properties)) {
    const bounds = { type, maxLength, maximum, maxItems };
    t.strictSame(bounds, { type: own[name]?.type, ...pick(own[name]) }, name);
  }
  t.end();
});

function pick(bounds: Bounds | undefined): object {
  return { maxLength: bounds?.maxLength, maximum: bounds?.maximum, maxItems: bounds?.maxItems };
}

test('an object has labels that Kubernetes accepts, and the resourceVersion of an update', (t) => {
  const resource = decodeResourcePath('/apis/bench.example/v1/things');
  const places = { name: 'a', size: '1', title: 'A' };
  const made = JSON.parse(measuredObject(resource, places)) as {
    readonly apiVersion: string;
    readonly metadata: { readonly labels: Readonly<Record<string, string>>; readonly resourceVersion?: string };
    readonly spec: object;
  };
  t.equal(made.apiVersion, 'bench.example/v1');
  t.notOk('resourceVersion' in made.metadata);
  for (const value of Object.values(made.metadata.labels)) t.match(value, /^[a-z0-9-]{1,63}$/u);
  t.match(JSON.parse(measuredObject(resource, { ...places, resourceVersion: '7' })), {
    metadata: { resourceVersion: '7' },
  });
  t.end();
});
