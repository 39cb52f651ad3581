import { isObject, type JsonObject } from '../../wire/json-body'

/** Stands for an image at an address that no chat may name. */
const somewhere = 'https://image.invalid/'
const nameable = /^(https:|data:image\/[\w.+-]+;base64,)/

const toImage = (url: unknown): JsonObject => ({
  type: 'image_url',
  image_url: { url: typeof url === 'string' && nameable.test(url) ? url : somewhere },
})

const toFile = (data: unknown): JsonObject => ({
  type: 'file',
  file: typeof data === 'string' ? { file_data: data } : {},
})

/**
 * Returns an item without counterpart in chat as content that makes a model read at least as much: the
 * hold and the count use it, while the item itself goes to a provider that knows it.
 */
export function toForeignContent(item: JsonObject): JsonObject[] {
  const { encrypted_content: _unreadable, content, output, result, ...rest } = item
  const media: JsonObject[] = []
  for (const part of [content, output].flat()) {
    if (!isObject(part)) continue
    const { type, image_url: image, file_data: data, file_url: url } = part
    if (image !== undefined) media.push(toImage(image))
    if (type === 'input_file' || url !== undefined) media.push(toFile(data))
    const { image_url: _image, file_data: _data, ...fields } = part
    media.push({ type: 'text', text: JSON.stringify(fields) })
  }
  if (item['type'] === 'image_generation_call' && typeof result === 'string') {
    media.push(toImage(`data:image/png;base64,${result}`))
  }
  const texts = [content, output].filter((text) => typeof text === 'string')
  return [...media, { type: 'text', text: [JSON.stringify(rest), ...texts].join('\n') }]
}
