import type { TypeKey } from '../../resource/type/index-entry.ts';

/** An object with an owner reference. `hasOtherOwners`: whether the object also names other owners. */
export type Dependent = { readonly type: TypeKey; readonly name: string; readonly hasOtherOwners: boolean };

export type DependentReader = {
  /** Returns up to `limit` objects that name the owner with this uid. */
  dependentsOf(uid: string, limit: number): readonly Dependent[];
};
