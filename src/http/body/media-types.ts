export const jsonType = 'application/json';
export const yamlType = 'application/yaml';
