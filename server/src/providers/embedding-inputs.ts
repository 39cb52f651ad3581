import { readDataUrl, type MediaData } from './media'
import { unsupported } from './unsupported-fields'
import { isImage, partsOf, type EmbeddingItem, type EmbeddingPart } from '../wire/embedding-request'

/**
 * The kinds that one input may consist of: one text; one text or one image; one text, one image or both;
 * texts and images in any number and order.
 */
export type InputKinds = 'text' | 'one' | 'pair' | 'mixed'

const refusals: Readonly<Record<Exclude<InputKinds, 'mixed'>, string>> = {
  text: 'this model embeds one text per input, and no images.',
  one: 'this model embeds one text or one image per input. Send each part as an input of its own.',
  pair: 'this model embeds at most one text and one image per input.',
}

/** Throws `invalid_request` for an input that a model cannot take, and names it. */
export function checkInputs(inputs: readonly EmbeddingItem[], kinds: InputKinds): void {
  if (kinds === 'mixed') return
  for (const [index, item] of inputs.entries()) {
    if (typeof item === 'string' || isWithin(item.parts, kinds)) continue
    throw unsupported(`input.${index}`, `input.${index}: ${refusals[kinds]}`)
  }
}

function isWithin(parts: readonly EmbeddingPart[], kinds: Exclude<InputKinds, 'mixed'>): boolean {
  const images = parts.filter(isImage).length
  const texts = parts.length - images
  if (kinds === 'text') return images === 0 && texts === 1
  return kinds === 'one' ? parts.length === 1 : images <= 1 && texts <= 1
}

/** An input's one text and its one image, each where it has it. */
export function splitTextAndImage(item: EmbeddingItem): { text?: string; image?: MediaData } {
  const collected: { text?: string; image?: MediaData } = {}
  for (const part of partsOf(item)) {
    if (isImage(part)) collected.image = parseMedia(part.image)
    else collected.text = part.text
  }
  return collected
}

/** The bytes and the type of an image, which is a data URL by now. */
export function parseMedia(image: string): MediaData {
  const media = readDataUrl(image)
  if (!media) throw new Error('An image could not be fetched.')
  return media
}
