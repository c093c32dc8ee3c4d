/** The media types of the API's own documents, without parameters. */
export const jsonType = 'application/json';
export const yamlType = 'application/yaml';
