/** Formats a value as indented JSON. */
export const toPrettyJson = (value: unknown) => JSON.stringify(value, undefined, 2)
