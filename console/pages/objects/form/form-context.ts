import { inject, provide, shallowReactive, type ComputedRef, type InjectionKey } from 'vue';

import type { TypeSchema } from '../../../server/type-schema.ts';
import type { Json, JsonObject } from '../object/editable.ts';
import { pointerTo, tokensOf } from './pointer.ts';

/** A form for the value of a draft. Each field refers to its value by a JSON pointer. */
export type Form = {
  readonly components: () => TypeSchema['components'];
  readonly value: ComputedRef<JsonObject>;
  /** The problems that the server has found, by pointer. */
  readonly problems: ComputedRef<ReadonlyMap<string, string>>;
  /** By the dotted path of a field: the type of the objects that the field names, as `<plural>.<group>`. */
  readonly references: () => ReadonlyMap<string, string>;
  /** Whether no field can be changed. Parts of the form can still be opened. */
  readonly isReadOnly: () => boolean;
  /** The pointers of fields that cannot be changed. */
  readonly fixed: () => ReadonlySet<string>;
  /** The pointers of members with a field outside of the part that contains the member. */
  readonly apart: () => ReadonlySet<string>;
  /** Sets the value at a pointer; undefined removes the value. */
  readonly set: (pointer: string, value: Json | undefined) => void;
  /** The texts of fields that cannot be parsed as values. They are kept until the user corrects them. */
  readonly broken: ComputedRef<ReadonlyMap<string, BrokenText>>;
  readonly setBroken: (pointer: string, broken: BrokenText | undefined) => void;
  readonly view: FormView;
};

export type BrokenText = { readonly text: string; readonly message: string };

/** The open parts of a form, and the number of drawn fields in each part. */
export class FormView {
  readonly #open = shallowReactive(new Map<string, boolean>());
  readonly #limits = shallowReactive(new Map<string, number>());

  isOpen(pointer: string, preset: boolean): boolean {
    return this.#open.get(pointer) ?? preset;
  }

  setOpen(pointer: string, isOpen: boolean): void {
    this.#open.set(pointer, isOpen);
  }

  limitOf(pointer: string): number {
    return this.#limits.get(pointer) ?? fieldsMax;
  }

  showMore(pointer: string): void {
    this.#limits.set(pointer, this.limitOf(pointer) + fieldsMax);
  }

  /** Opens all parts that contain a value, and draws the preceding elements. */
  reveal(pointer: string): void {
    let at = '';
    this.setOpen(at, true);
    for (const token of tokensOf(pointer)) {
      const index = Number(token);
      if (Number.isInteger(index) && index >= this.limitOf(at) && index < revealedMax) this.#limits.set(at, index + 1);
      at = pointerTo(at, token);
      this.setOpen(at, true);
    }
  }
}

/** The number of fields that a part of a form draws at first. */
const fieldsMax = 40;
const revealedMax = 2_000;

const formKey: InjectionKey<Form> = Symbol('form');

export function provideForm(form: Form): void {
  provide(formKey, form);
}

export function useForm(): Form {
  const form = inject(formKey);
  if (form === undefined) throw new Error('the field is in no form');
  return form;
}

/** Returns the number of problems at a pointer and at the pointers below it. */
export function problemsWithin(problems: ReadonlyMap<string, string>, pointer: string): number {
  return [...problems.keys()].filter((each) => each === pointer || each.startsWith(`${pointer}/`)).length;
}
