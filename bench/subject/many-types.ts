import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns types similar to the types of plugins: in two plugins and ten groups, with a schema and subresources similar
 * to a Deployment.
 */
export function manyTypes(count: number): readonly object[] {
  return Array.from({ length: count }, (_type, index) => {
    const number = String(index);
    return {
      group: `g${String(index % 10)}.p${String(index % pluginCount)}.example`,
      version: 'v1',
      kind: `Thing${number}`,
      singular: `thing${number}`,
      plural: `things${number}`,
      shortNames: [`t${number}`],
      categories: ['things'],
      statusSubresource: true,
      scale: { specReplicas: '/spec/replicas', statusReplicas: '/status/replicas' },
      schema: {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: {
              replicas: { type: 'integer', minimum: 0 },
              title: { type: 'string', maxLength: 200 },
              tags: { type: 'array', items: { type: 'string' } },
              template: { type: 'object', properties: { image: { type: 'string' }, arguments: { type: 'array' } } },
            },
          },
          status: { type: 'object', properties: { replicas: { type: 'integer' }, phase: { type: 'string' } } },
        },
      },
    };
  });
}

const pluginCount = 2;

/** Writes plugins with these types into a folder for `PLUGINS_DIRS`. */
export function writeManyTypes(folder: string, types: readonly object[]): void {
  for (let plugin = 0; plugin < pluginCount; plugin += 1) {
    const name = `many${String(plugin)}`;
    const own = types.filter((_type, index) => index % pluginCount === plugin);
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(
      join(folder, name, 'plugin.yaml'),
      JSON.stringify({
        apiVersion: 'plugin.svc.run/v1alpha1',
        kind: 'Plugin',
        metadata: { name },
        spec: { version: '1.0.0', main: 'main.mjs' },
      }),
    );
    writeFileSync(join(folder, name, 'main.mjs'), `export default { types: ${JSON.stringify(own)} };\n`);
  }
}
