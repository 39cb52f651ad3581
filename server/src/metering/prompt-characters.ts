import { collectPromptTexts } from './estimate'
import { isObject, type JsonObject } from '../wire/json-body'
import { charactersOf } from '../wire/text-size'

/**
 * Counts the Unicode code points of a request's prompt: of its messages, calls, tools and schema, of its prompts
 * with their suffix, or of its inputs. Token ids, images, audio and files have none.
 */
export function promptCharacters(body: JsonObject): number {
  const { messages, prompt, input, suffix } = body
  if (Array.isArray(messages)) {
    return sumOf(collectPromptTexts({ ...body, messages: messages.filter(isObject) }).texts)
  }
  if (prompt === undefined) return sumOf([input].flat(1).flatMap(textsOfInput))
  const prompts = typeof prompt === 'string' ? [prompt] : [prompt].flat(1)
  const isMany = prompts.length > 1 && typeof prompts[0] !== 'number'
  const ofSuffix = typeof suffix === 'string' ? charactersOf(suffix) : 0
  return sumOf(prompts.flatMap(textsOfInput)) + ofSuffix * (isMany ? prompts.length : 1)
}

const sumOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + charactersOf(text), 0)

/** Returns the texts of one input: a text, or an object with a text or with parts. */
function textsOfInput(item: unknown): string[] {
  if (typeof item === 'string') return [item]
  if (!isObject(item)) return []
  const { content, text } = item
  if (Array.isArray(content)) return content.flatMap(textsOfInput)
  return typeof text === 'string' ? [text] : []
}
