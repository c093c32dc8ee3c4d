import { answerBytes, declaredIn, isObjectEvent, type DecodedEvent } from '../../src/log/event-codec.ts';
import { referencesOf } from '../../src/log/event-references.ts';
import type { RecordedEvent } from '../../src/log/log.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { currentObject } from '../../src/resource/type/versions/shown-version.ts';
import { formOf, type Row } from '../row.ts';

export type Content = Omit<Row, 'entry'>;

type Contained = {
  /** The object in the event. */
  readonly written: ResourceObject;
  /** The result of `presentObject`; the same reference as `written` if nothing was converted. */
  readonly object: ResourceObject;
};

/** The contents of an object's row after an event. */
export function contentOf(recorded: RecordedEvent, decoded: DecodedEvent, { written, object }: Contained): Content {
  const { revision, position } = recorded;
  const source = answerBytes(decoded, recorded.data, position.toString());
  const form = formOf(source, object === written ? source : answerOf(object, position.toString()));
  const references = isObjectEvent(decoded.event) && referencesOf(decoded.event).length > 0;
  return {
    position,
    revision,
    declared: declaredIn(recorded),
    ...form,
    references,
    ...marks(object),
  };
}

/** The JSON of a response. The `resourceVersion` has the same place as in the results of `answerBytes`. */
function answerOf({ metadata, ...object }: ResourceObject, resourceVersion: string): Buffer {
  const { apiVersion, kind, ...members } = object;
  return Buffer.from(JSON.stringify({ apiVersion, kind, metadata: { resourceVersion, ...metadata }, ...members }));
}

/**
 * Returns the object of an event in the form of the type's present declaration: in the preferred version, with
 * defaults. Returns `written` itself if the type is not registered, or if this process decided the event under the
 * present declaration.
 */
export function presentObject(
  written: ResourceObject,
  { indexed }: DecodedEvent,
  type: ResourceType | undefined,
): ResourceObject {
  return type === undefined || indexed?.fingerprint === type.fingerprint ? written : currentObject(written, type);
}

function marks(object: ResourceObject): { readonly deletionRequested: boolean; readonly finalizers: boolean } {
  return {
    deletionRequested: object.metadata.deletionTimestamp !== undefined,
    finalizers: object.metadata.finalizers !== undefined,
  };
}
