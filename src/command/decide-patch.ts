import { isObject } from '../base/guards.ts';
import { applyJsonPatch, applyMergePatch } from '../resource/object/patch.ts';
import type { JsonObject } from '../resource/object/object.ts';
import type { Patch } from './command.ts';
import type { Rejection } from './rejection.ts';

type Patched =
  { readonly ok: true; readonly document: JsonObject } | { readonly ok: false; readonly rejection: Rejection };

/**
 * Applies a patch to an object in the form of a response. If the patch sets neither `version` nor `resourceVersion`,
 * the document has the current values, so a later check of these preconditions passes.
 */
export function patched(shown: JsonObject, patch: Patch): Patched {
  const result =
    patch.kind === 'merge'
      ? { ok: true as const, document: applyMergePatch(shown, patch.document) }
      : applyJsonPatch(shown, patch.operations);
  if (!result.ok) {
    return {
      ok: false,
      rejection:
        result.problem === 'malformed' ? { reason: 'bad-request', detail: result.detail } : refusal(result.detail),
    };
  }
  if (!isObject(result.document)) return { ok: false, rejection: refusal('the patched document is not an object') };
  return { ok: true, document: result.document };
}

function refusal(detail: string): Rejection {
  return {
    reason: 'invalid',
    detail,
    violations: [{ pointer: '', detail }],
    root: 'patch',
  };
}
