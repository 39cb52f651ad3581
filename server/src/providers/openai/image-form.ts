import type { MediaData } from '../media'
import type { JsonObject } from '../../wire/json-body'
import { toFormContent, type OutgoingContent, type OutgoingFile } from '../../wire/outgoing-content'
import { toFormFields } from '../../wire/transcription-request'

/** The images that a request has changed, with their data. */
export interface ImageFiles {
  images: readonly MediaData[]
  mask: MediaData | undefined
}

/**
 * Writes a request for changed images as OpenAI's libraries send it.
 * Source: https://learn.microsoft.com/azure/ai-foundry/openai/how-to/dall-e#call-the-image-edit-api
 */
export function toImageForm(body: JsonObject, { images, mask }: ImageFiles): OutgoingContent {
  const name = images.length === 1 ? 'image' : 'image[]'
  const files = images.map((image, index) => [name, toImageFile(image, `image-${index}`)] as const)
  const masks = mask ? [['mask', toImageFile(mask, 'mask')] as const] : []
  return toFormContent([...toFormFields(body), ...files, ...masks])
}

/** Returns an image as a file of a form, with a name that ends as its type. */
export function toImageFile({ mimeType, base64 }: MediaData, name: string): OutgoingFile {
  const content = Buffer.from(base64, 'base64')
  const [, end = 'bin'] = /^image\/(\w+)/.exec(mimeType) ?? []
  return {
    name: `${name}.${end}`,
    type: mimeType,
    bytes: content.byteLength,
    async *read() {
      for (let at = 0; at < content.byteLength; at += pieceBytes) {
        yield content.subarray(at, at + pieceBytes)
      }
    },
  }
}

/** The piece that is sent at once. */
const pieceBytes = 64 * 1024
