/** A name in two pairs of braces, with optional white space around it. */
const placeholder = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{N}_.-]*)\s*\}\}/gu

/** Lists the names of `{{name}}` in a prompt, each once, in order of first use. */
export const variablesOf = (content: string): string[] => [
  ...new Set(Array.from(content.matchAll(placeholder), ([, name = '']) => name)),
]
