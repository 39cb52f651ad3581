import { noUsage, type Usage } from '../wire/usage'
import { Counter } from '../wire/usage-counts'

/**
 * The usage of an answer that has no output: tokens of text and of images, of which a provider may count
 * one alone. Undefined where neither is a number of tokens, or one of them is something else.
 */
export function toInputUsage(texts: unknown, images?: unknown): Usage | undefined {
  const counter = new Counter()
  const ofTexts = counter.read({ texts }, 'texts')
  const ofImages = counter.read({ images }, 'images')
  if (counter.isFlawed || (ofTexts ?? ofImages) === undefined) return undefined
  return { ...noUsage, input: ofTexts ?? 0, imageInput: ofImages ?? 0 }
}
