import type { TypeName } from './object.ts';

/**
 * A step that brings the stored objects of a type into the form of the present version. After an upgrade, the leader
 * runs the steps of the plugin in the order of the declaration, on every stored object of their types. A finished step
 * is recorded in the plugin's status and does not run again as long as the plugin declares it.
 */
export type MigrationDeclaration = {
  /** Unique in the plugin: lowercase letters, digits and dashes. Give a changed step another id. */
  readonly id: string;
  /** One of this plugin's types. */
  readonly type: TypeName;
  /**
   * Returns the object in the new form; undefined or an equal object means that nothing changes. The function is
   * synchronous and pure, and its argument is frozen. It must accept an object that has the new form already, and leave
   * it as it is, since it may run twice. A step that throws for an object leaves this object as it is.
   *
   * A method, so that an implementation may narrow its parameter to the objects of its type.
   */
  up(object: never): object | undefined;
};
