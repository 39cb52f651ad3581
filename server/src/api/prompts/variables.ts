/** A name in two pairs of braces, with white space around it or not. */
const placeholder = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{N}_.-]*)\s*\}\}/gu

/** The names of `{{name}}` in a prompt, each once, in the order in which they first come. */
export const variablesOf = (content: string): string[] => [
  ...new Set(Array.from(content.matchAll(placeholder), ([, name = '']) => name)),
]
