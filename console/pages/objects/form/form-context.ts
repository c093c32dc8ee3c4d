import { inject, provide, shallowReactive, type ComputedRef, type InjectionKey } from 'vue';

import type { TypeSchema } from '../../../server/type-schema.ts';
import type { Json, JsonObject } from '../object/editable.ts';
import { pointerTo, tokensOf } from './pointer.ts';

/** A form for the value of a draft. Its fields name their values by JSON pointers. */
export type Form = {
  readonly components: () => TypeSchema['components'];
  readonly value: ComputedRef<JsonObject>;
  /** The problems that the server has found, by pointer. */
  readonly problems: ComputedRef<ReadonlyMap<string, string>>;
  /** The types whose objects a field names, by the field's dotted path: `<plural>.<group>`. */
  readonly references: () => ReadonlyMap<string, string>;
  /** Whether no field can be changed. Parts can still be opened. */
  readonly isReadOnly: () => boolean;
  /** The pointers of fields that cannot be changed. */
  readonly fixed: () => ReadonlySet<string>;
  /** The pointers of members with a field outside of the part that contains them. */
  readonly apart: () => ReadonlySet<string>;
  /** Undefined removes the value. */
  readonly set: (pointer: string, value: Json | undefined) => void;
  /** Texts of fields that cannot be read as values; they are kept until they are corrected. */
  readonly broken: ComputedRef<ReadonlyMap<string, BrokenText>>;
  readonly setBroken: (pointer: string, broken: BrokenText | undefined) => void;
  readonly view: FormView;
};

export type BrokenText = { readonly text: string; readonly message: string };

/** Which parts of a form are open, and how many of their fields are drawn. */
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

  /** Opens all parts around a value, and draws the elements before it. */
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

/** The fields of a part of a form that are drawn at first. */
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

/** Returns the number of problems at a pointer and below it. */
export function problemsWithin(problems: ReadonlyMap<string, string>, pointer: string): number {
  return [...problems.keys()].filter((each) => each === pointer || each.startsWith(`${pointer}/`)).length;
}
