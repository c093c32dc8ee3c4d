import type { TypeName } from './object.ts';

/**
 * A conversion of the stored objects of a type to the form that this version of the plugin expects. After the start of
 * the plugin, the leader runs unfinished migrations on every stored object of the type. The migrations of a type run
 * one after the other, in the order of the declaration. The plugin's status records finished migrations. A finished
 * migration does not run again as long as the plugin declares the migration.
 */
export type MigrationDeclaration = {
  /** Unique in the plugin: lowercase letters, digits and dashes. Give a changed migration another id. */
  readonly id: string;
  /** One of this plugin's types. */
  readonly type: TypeName;
  /**
   * Returns the object in the new form. If the result is undefined or an equal object, nothing is written. If the
   * function throws for an object, the object is not changed.
   *
   * The function must be synchronous and pure, and its argument is frozen. The function may run several times for an
   * object, so it must not change an object in the new form.
   *
   * `up` is declared as a method, so that the parameter of an implementation can have the type of the migrated objects.
   */
  up(object: never): object | undefined;
};
