import { isObject, type JsonObject } from '../wire/json-body'

/** Shorter texts, such as names and ids, are not worth counting. UTF-16 units. */
const minLength = 32
const maxLength = 4 * 1024 * 1024
/** Reading a body takes the event loop's time. */
const maxValues = 100_000

const mediaFields = ['image_url', 'input_audio', 'audio_url', 'file']

/** The bounds of these are not made of their bytes. */
const isMedia = (value: JsonObject) => mediaFields.some((name) => name in value)

/**
 * Finds the long texts in a request's body, those of tools and calls too, each as often as it is in there. Of a very
 * large body it returns some.
 */
export function findLongTexts(body: JsonObject): string[] {
  const texts: string[] = []
  const open: unknown[] = [body]
  let values = 1
  const add = (value: unknown) => {
    if (values++ < maxValues) open.push(value)
  }
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string') texts.push(value)
    else if (Array.isArray(value)) value.forEach(add)
    else if (isObject(value) && !isMedia(value)) Object.values(value).forEach(add)
  }
  return pickLongTexts(texts)
}

/** Returns those of texts that are worth counting; of very many some. */
export function pickLongTexts(texts: readonly string[]): string[] {
  let length = 0
  return texts.filter((text) => {
    const isPicked = text.length >= minLength && length + text.length <= maxLength
    if (isPicked) length += text.length
    return isPicked
  })
}
