import type { ResourceType } from '../../resource/type/resource-type.ts';
import { versionedAnswer, versionedItems } from '../../resource/type/versions/shown-version.ts';
import type { Representation, Shown } from './representation.ts';

/**
 * Returns the form of objects in the version of the path. The read models contain the preferred version. Objects in
 * another version are converted before `form`, such as a table, is derived.
 */
export function formInVersion(type: ResourceType, form: Representation | undefined): Representation | undefined {
  if (type.preferred === undefined) return form;
  const made = forms.get(type) ?? new Map<string, Representation>();
  forms.set(type, made);
  const name = `${type.version} ${form?.name ?? ''}`;
  const present = made.get(name);
  if (present !== undefined) return present;
  const fresh = new VersionedForm(name, type, form);
  made.set(name, fresh);
  return fresh;
}

const forms = new WeakMap<ResourceType, Map<string, Representation>>();

class VersionedForm implements Representation {
  readonly name: string;
  readonly listKind: Representation['listKind'];
  readonly listOpening: string;
  readonly laterObject?: (object: Uint8Array, now: number) => Buffer;
  readonly #type: ResourceType;
  readonly #inner: Representation | undefined;

  constructor(name: string, type: ResourceType, inner: Representation | undefined) {
    this.name = name;
    this.listKind = inner?.listKind ?? { apiVersion: type.apiVersion, kind: `${type.kind}List` };
    this.listOpening = inner?.listOpening ?? ',"items":[';
    this.#type = type;
    this.#inner = inner;
    const { laterObject } = inner ?? {};
    if (laterObject !== undefined)
      this.laterObject = (object, now) => laterObject.call(inner, versionedAnswer(object, type), now);
  }

  items(objects: Uint8Array, now: number): Shown {
    const shown = Buffer.from(versionedItems(objects, this.#type));
    return this.#inner?.items(shown, now) ?? { bytes: shown, until: Infinity };
  }

  object(object: Uint8Array, now: number): Buffer {
    const shown = Buffer.from(versionedAnswer(object, this.#type));
    return this.#inner?.object(shown, now) ?? shown;
  }
}
