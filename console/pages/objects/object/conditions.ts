import { isJsonObject, type Json } from './editable.ts';

/** A condition in the status of an object, in Kubernetes' form. */
export type Condition = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string | undefined;
};

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Returns the conditions in a status. Ignores values of another form. */
export function conditionsOf(status: Json | undefined): readonly Condition[] {
  const conditions = isJsonObject(status) ? status['conditions'] : undefined;
  if (!Array.isArray(conditions)) return [];
  return conditions
    .filter((each: Json) => isJsonObject(each))
    .filter((each) => text(each['type']) !== '')
    .map((each) => ({
      type: text(each['type']),
      status: text(each['status']),
      reason: text(each['reason']),
      message: text(each['message']),
      since: text(each['lastTransitionTime']) || undefined,
    }));
}
