import type { Json } from '../../object/editable.ts';
import type { Field } from '../field-kind.ts';

/** The properties of the control in a field. Other attributes are passed to the native element. */
export type ControlProps = {
  readonly field: Field;
  readonly value: Json | undefined;
  readonly required: boolean;
  readonly disabled: boolean;
  /** If the value is the name of an object: the type of the object, as `<plural>.<group>`. */
  readonly target?: string | undefined;
};

/** `undefined` removes the value. */
export type ControlEmits = { change: [value: Json | undefined] };
