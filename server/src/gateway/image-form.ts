import type { InboundRequest } from './request'
import { invalidRequest } from '../errors'
import { readImageForm } from '../wire/image-form'
import { maxInputs } from '../wire/image-request'
import type { JsonObject, ReadBody } from '../wire/json-body'
import { yieldToLoop, type Pause } from '../wire/json-slices'

/** The most of a request for changed images, as JSON. */
export const maxEditBytes = 32 * 1024 * 1024

/** The files of a request for changed images: in base64 they are within the bound of JSON. */
const maxFilesBytes = 23 * 1024 * 1024
export const editForm = {
  files: { image: maxInputs, mask: 1 },
  maxFileBytes: maxFilesBytes,
  maxFilesBytes,
}

/** The file of a request for variations. */
export const variationForm = { ...editForm, files: { image: 1 } }

/**
 * Makes a form the same request as JSON, with its files as data URLs, so that all that follows is one for both. It takes
 * memory as that JSON would, once there is room for it. Rejects with `invalid_request` and `gateway_unavailable`.
 */
export async function editFormToJson(form: JsonObject, call: InboundRequest): Promise<ReadBody> {
  const { fields, images, mask } = readImageForm(form)
  const files = mask ? [...images, mask] : images
  const bytes =
    Buffer.byteLength(JSON.stringify(fields)) +
    files.reduce((sum, { file }) => sum + Math.ceil(file.bytes / 3) * 4 + overheadBytes, 0)
  if (bytes > maxEditBytes) {
    const message = `The form is larger than ${maxEditBytes / 2 ** 20} MB as JSON, the maximum of this endpoint.`
    throw invalidRequest(null, 'body_too_large', message)
  }
  const read = async (pause: Pause) => {
    const urls: { image_url: string }[] = []
    for (const { file, type } of files) {
      const content = await file.readWhole()
      const startedAt = performance.now()
      urls.push({ image_url: `data:${type};base64,${content.toString('base64')}` })
      await pause(performance.now() - startedAt)
    }
    return urls
  }
  const urls = await (call.readMore ? call.readMore(bytes, read) : read(yieldToLoop))
  await call.upload?.[Symbol.asyncDispose]()
  const body: JsonObject = { ...fields, images: urls.slice(0, images.length) }
  if (mask) body['mask'] = urls.at(-1)
  return { body, bytes }
}

/** The names and the punctuation of one image. */
const overheadBytes = 64
