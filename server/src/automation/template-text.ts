import { invalidRequest } from '../errors'

const placeholder = /\{\{\s*([A-Za-z_][\w-]{0,63})\s*\}\}/g

/** The maximum length of a filled text; a value can occur in it many times. */
const maxCharacters = 100_000

/**
 * Returns a template's text with `variables` in the place of `{{name}}`; inserted values are not expanded again.
 * Throws `invalid_request` for a name without a value, and for a text that grows too long.
 */
export function fillTemplate(text: string, variables: Readonly<Record<string, string>>): string {
  let length = text.length
  for (const [whole, name = ''] of text.matchAll(placeholder)) {
    if (!Object.hasOwn(variables, name)) {
      const param = `variables.${name}`
      throw invalidRequest(
        param,
        'required',
        `${param}: the template requires a value for this variable.`,
      )
    }
    length += (variables[name]?.length ?? 0) - whole.length
  }
  if (length > maxCharacters) {
    const message = `variables: the resulting text would exceed ${maxCharacters} characters.`
    throw invalidRequest('variables', 'too_long', message)
  }
  return text.replaceAll(placeholder, (_whole, name: string) => variables[name] ?? '')
}
