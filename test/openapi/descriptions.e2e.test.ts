/** `kubectl explain` shows these descriptions. */
import { test } from 'tap';

import { startTestServer } from '../support/server/start-server.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- documents are matched, not typed
type Members = Record<string, any>;

/** The paths of the properties below a schema that neither describe themselves nor refer to a named schema. */
function* undescribed(schema: Members, path: string): Generator<string> {
  for (const [name, property] of Object.entries((schema['properties'] ?? {}) as Members)) {
    const place = `${path}.${name}`;
    if (typeof property.description !== 'string' && property.$ref === undefined) yield place;
    yield* undescribed(property as Members, place);
  }
  for (const inner of [schema['items'], schema['additionalProperties'], ...((schema['allOf'] ?? []) as unknown[])])
    if (typeof inner === 'object' && inner !== null) yield* undescribed(inner, path);
}

test('every member of every type of the platform and of the bundled plugins is described', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const read = async (path: string): Promise<Members> => (await (await server.call(path)).json()) as Members;
  const { paths } = await read('/openapi/v3');
  const documents = [...Object.keys(paths as object).map((key) => `/openapi/v3/${key}`), '/v3/api-docs'];
  const kinds = new Set<string>();
  for (const path of documents) {
    const { schemas } = (await read(path))['components'] as Members;
    for (const [name, schema] of Object.entries(schemas as Members)) {
      t.type(schema.description, 'string', `${path} ${name}`);
      t.strictSame([...undescribed(schema as Members, name)], [], path);
      kinds.add(name.split('.').at(-1) ?? '');
    }
  }
  for (const kind of ['User', 'Role', 'RoleBinding', 'PersonalAccessToken', 'Session', 'Plugin', 'Post', 'Comment'])
    t.ok(kinds.has(kind), kind);
  for (const kind of ['Widget', 'SelfSubjectReview', 'SubjectAccessReview', 'ObjectMeta', 'Status'])
    t.ok(kinds.has(kind), kind);
});
