import { replicasMax } from '../../limits/objects.ts';
import type { ResourceType } from './resource-type.ts';
import { compileType } from './type-declaration.ts';

/**
 * Kubernetes' `autoscaling/v1 Scale`, the kind of the subresource `scale`. The type is not registered, because no Scale
 * is stored.
 */
export const scaleType: ResourceType = compiled();

function compiled(): ResourceType {
  const result = compileType(
    {
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      singular: 'scale',
      plural: 'scales',
      schema: {
        type: 'object',
        additionalProperties: false,
        properties: {
          spec: {
            type: 'object',
            additionalProperties: false,
            properties: { replicas: { type: 'integer', minimum: 0, maximum: replicasMax } },
          },
          // The observed state. A status that a client sends is ignored.
          status: { type: 'object' },
        },
      },
    },
    { plugin: 'platform', bundled: true, domain: '' },
  );
  if (!result.ok) throw new Error(`invariant violated: ${result.problems.join()}`);
  return result.type;
}
