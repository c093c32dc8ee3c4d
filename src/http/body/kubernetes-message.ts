import type { Field, MessageShape } from './decode-message.ts';

export const protobufType = 'application/vnd.kubernetes.protobuf';

/**
 * A Kubernetes message, as `generated.proto` of its API group declares the message. Some fields that this server
 * ignores are omitted.
 */
export type KubernetesMessage = {
  readonly kind: string;
  /**
   * The required version. Undefined allows any version, since clients send DeleteOptions with the version of the
   * object's group.
   */
  readonly apiVersion: string | undefined;
  readonly shape: MessageShape;
};

export const text = (name: string): Field => ({ name, type: 'string' });
export const strings = (name: string): Field => ({ name, type: 'strings' });
export const nested = (name: string, shape: MessageShape): Field => ({ name, type: 'message', shape });

/** The options of a deletion. */
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
