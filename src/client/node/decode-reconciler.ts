import type { ReconcilerDeclaration, ReconcileRequest } from '../../plugin/api/plugin.ts';

/** A decoded declaration. Only the code of the reconciler knows the TypeScript type of the objects. */
export type DecodedReconciler = {
  readonly type: ReconcilerDeclaration['type'];
  readonly name: string;
  readonly concurrency: number;
  readonly watches: NonNullable<ReconcilerDeclaration['watches']>;
  readonly reconcile: (request: ReconcileRequest) => unknown;
};

const concurrencyMax = 16;

/**
 * Decodes a declaration. As in plugins, the objects that a reconciler receives are not checked against their TypeScript
 * type.
 *
 * @throws TypeError for an invalid concurrency.
 */
export function decodeReconciler(declaration: ReconcilerDeclaration<never>): DecodedReconciler {
  const { type, reconcile, name, watches = [], concurrency = 1 } = declaration;
  if (!Number.isSafeInteger(concurrency) || concurrency < 1 || concurrency > concurrencyMax)
    throw new TypeError(`concurrency must be a whole number from 1 to ${String(concurrencyMax)}`);
  return {
    type,
    name: name ?? `${type.plural}${type.group === '' ? '' : `.${type.group}`}`,
    concurrency,
    watches,
    reconcile: reconcile as unknown as (request: ReconcileRequest) => unknown,
  };
}
