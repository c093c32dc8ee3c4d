import type { TypeName } from './object.ts';

/**
 * A step that converts the stored objects of a type to the form that this version of the plugin expects. After the
 * start of the plugin, the leader runs each unfinished step on every stored object of the step's type. The steps of a
 * type run one after the other, in the order of the declaration. A finished step is recorded in the plugin's status,
 * and does not run again as long as the plugin declares it.
 */
export type MigrationDeclaration = {
  /** Unique in the plugin: lowercase letters, digits and dashes. Give a changed step another id. */
  readonly id: string;
  /** One of this plugin's types. */
  readonly type: TypeName;
  /**
   * Returns the object in the new form. If the result is undefined or an equal object, nothing is written. The function
   * must be synchronous and pure, and its argument is frozen. It may run several times for an object, so it must not
   * change an object that already has the new form. If the function throws for an object, the object is not changed.
   *
   * `up` is declared as a method, so that an implementation can have a parameter with the type of the migrated objects.
   */
  up(object: never): object | undefined;
};
