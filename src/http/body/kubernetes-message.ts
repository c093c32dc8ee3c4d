import type { Field, MessageShape } from './decode-message.ts';

export const protobufType = 'application/vnd.kubernetes.protobuf';

/** A message as in `generated.proto` of its Kubernetes API group. Fields that this server ignores may be omitted. */
export type KubernetesMessage = {
  readonly kind: string;
  /** Undefined allows any version: clients send DeleteOptions with the version of the object's group. */
  readonly apiVersion: string | undefined;
  readonly shape: MessageShape;
};

export const text = (name: string): Field => ({ name, type: 'string' });
export const strings = (name: string): Field => ({ name, type: 'strings' });
export const nested = (name: string, shape: MessageShape): Field => ({ name, type: 'message', shape });

export const deleteOptionsMessage: KubernetesMessage = {
  kind: 'DeleteOptions',
  apiVersion: undefined,
  shape: {
    1: { name: 'gracePeriodSeconds', type: 'integer' },
    2: nested('preconditions', { 1: text('uid'), 2: text('resourceVersion') }),
    3: { name: 'orphanDependents', type: 'bool' },
    4: text('propagationPolicy'),
    5: strings('dryRun'),
  },
};
