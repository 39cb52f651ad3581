import { isObject, type JsonObject, toObjects } from './json-body'

/** An image that a model drew: its type, and its data in base64. */
export interface DrawnImage {
  mimeType: string
  data: string
}

const dataUrl = /^data:(image\/[\w.+-]+);base64,/

/** Reads the images of a delta or a message, in the field that OpenAI-alikes with such models have made common. */
export const readDrawnImages = ({ images }: JsonObject): DrawnImage[] =>
  toObjects(images).flatMap(({ image_url: image }) => {
    const url = isObject(image) ? image['url'] : undefined
    if (typeof url !== 'string') return []
    const [start = '', mimeType = ''] = dataUrl.exec(url) ?? []
    return mimeType === '' ? [] : [{ mimeType, data: url.slice(start.length) }]
  })

const types: Readonly<Record<string, string>> = {
  iVBOR: 'image/png',
  '/9j/': 'image/jpeg',
  UklGR: 'image/webp',
}

/** The type of an image that is known by the beginning of its data in base64; PNG for others. */
export const imageTypeOf = (data: string): string =>
  Object.entries(types).find(([begin]) => data.startsWith(begin))?.[1] ?? 'image/png'
